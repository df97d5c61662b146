"""The estimators of other tools for a mean that a judge corrects: they take labels for independent.

They are measured where they are installed: ppi-python, potato-annotation, fewhumans and cje-eval.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.judged.values import JudgedValues

Interval = tuple[float, float, float]
"""The estimate and the bounds."""
_CJE_CAMPAIGNS: Final = 25


def _of_ppi_py(label: FloatArray, of_labelled: FloatArray, of_others: FloatArray) -> Interval:
    ppi: Any = import_module("ppi_py")
    low, high = ppi.ppi_mean_ci(label, of_labelled, of_others, alpha=0.05)
    estimate = ppi.ppi_mean_pointestimate(label, of_labelled, of_others)
    return float(estimate[0]), float(low[0]), float(high[0])


def _of_potato(label: FloatArray, of_labelled: FloatArray, of_others: FloatArray) -> Interval:
    potato: Any = import_module("potato.labeling_engine.contracts.ppi")
    found = potato.ppi_mean(label, of_labelled, np.concatenate([of_labelled, of_others]), 0.95)
    return found["estimate"], found["lo"], found["hi"]


def _of_fewhumans(label: FloatArray, of_labelled: FloatArray, of_others: FloatArray) -> Interval:
    fewhumans: Any = import_module("fewhumans.estimators.pp_plus")
    found = fewhumans.ppi_plus_mean(of_others, label, of_labelled)
    return found.value, found.lo, found.hi


def _of_cje(label: FloatArray, of_labelled: FloatArray, of_others: FloatArray) -> Interval:
    cje: Any = import_module("cje.array_api")
    labels = np.concatenate([label, np.full(len(of_others), np.nan)])
    found = cje.calibrated_mean_ci(np.concatenate([of_labelled, of_others]), labels, inference="cluster_robust")
    return found.estimate, *found.ci


RIVALS: Final[Mapping[str, tuple[str, int | None, Callable[[FloatArray, FloatArray, FloatArray], Interval]]]] = (
    MappingProxyType(
        {
            "ppi_py": ("ppi_py", None, _of_ppi_py),
            "Potato": ("potato", None, _of_potato),
            "FewHumans": ("fewhumans", None, _of_fewhumans),
            "CJE": ("cje", _CJE_CAMPAIGNS, _of_cje),
        }
    )
)
"""By name: the module, the campaigns of a cell that it is measured in, None for all, and the estimator."""


def installed() -> list[str]:
    """Return the names of the rivals that are installed."""
    return [name for name, (module, _, _) in RIVALS.items() if find_spec(module) is not None]


def intervals(name: str, values: JudgedValues) -> list[Interval]:
    """Return the rival's estimate of each bot with bounds."""
    estimator = RIVALS[name][2]
    found = []
    for bot in range(len(values.bots)):
        own = values.bot == bot
        asked = own & ~np.isnan(values.value)
        others = own & np.isnan(values.value)
        found.append(estimator(values.value[asked], values.judge[asked], values.judge[others]))
    return found
