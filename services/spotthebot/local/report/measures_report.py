"""The report of a campaign by any protocol but Spot The Bot: its measures, the headline first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from spotthebot.contracts.analytics.measures import MeasureOut, MeasuresOut
from spotthebot.contracts.analytics.mixed_models import MixedModel
from spotthebot.contracts.analytics.workforces import WorkforceAgreementsOut
from spotthebot.local.report.design import Design
from spotthebot.local.report.design_tables import design_tables
from spotthebot.local.report.findings import measure_finding
from spotthebot.local.report.measure_methods import measure_methods
from spotthebot.local.report.measure_tables import measure_tables, table_key
from spotthebot.local.report.mixed_model_tables import mixed_model_tables
from spotthebot.local.report.references import Prose
from spotthebot.local.report.report import CampaignReport
from spotthebot.local.report.table import Table
from spotthebot.local.report.workforce_tables import workforce_tables


@dataclass(frozen=True)
class MeasuresReport(CampaignReport):
    """The report of all measures; `headline` is the measure by which bots are ranked, with its pairs.

    `mixed_models` has the fits by the names of their measures, if they were requested.
    """

    headline: MeasureOut
    measures: MeasuresOut
    design: Design | None = None
    workforces: WorkforceAgreementsOut | None = None
    mixed_models: Mapping[str, MixedModel] = field(default_factory=dict)

    template = "measures.html.jinja"

    @property
    def result(self) -> MeasuresOut:
        """Return all measures."""
        return self.measures

    @property
    def document(self) -> Mapping[str, object]:
        """Return all measures, the pairs of the headline, and the mixed models, if there are any."""
        pairs = self.headline.model_dump(mode="json", include={"pairs", "pairs_method"})
        models = {name: each.model_dump(mode="json") for name, each in self.mixed_models.items()}
        return self.measures.model_dump(mode="json") | pairs | ({"mixed_models": models} if models else {})

    @property
    def findings(self) -> tuple[str, ...]:
        """Return how many pairs the headline tells apart, and how far annotators agree by it."""
        alpha = self.headline.alpha
        agreement = f"there is none, because {alpha.reason}" if alpha.estimate is None else f"{alpha.estimate:.2f}"
        bounds = "" if alpha.low is None or alpha.high is None else f", {alpha.low:.2f} to {alpha.high:.2f}"
        ranks = measure_finding(self.headline, self.headline)
        return ranks, f"How far annotators agree, Krippendorff's alpha: {agreement}{bounds}."

    @property
    def methods(self) -> Prose:
        """Return the methods behind the headline."""
        return measure_methods(self.headline, self.design)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """Return the tables of the measures, of mixed models, of agreement by workforce, and of the design."""
        bots = [each.name for each in self.measures.speakers]
        models = mixed_model_tables(self.mixed_models, bots, self.measures.confidence_level)
        found = (*measure_tables(self.headline, self.measures), *models, *workforce_tables(self.workforces))
        return found if self.design is None else (*found, *design_tables(self.design, self.measures))

    @property
    def own_values(self) -> Mapping[str, object]:
        """Return the names of the measures in addition to the headline, with the keys of their tables."""
        names = [each.measure for each in self.measures.measures if each.measure != self.headline.measure]
        return {"further": [(name, table_key(name)) for name in names]}
