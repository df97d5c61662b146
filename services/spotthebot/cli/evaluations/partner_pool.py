"""A diverse pool of partners: tiny models of the paper's architectures in variants, and built-in bots.

Each model learns one slice of a corpus, generative ones by heart, so that models of different slices say different
things; the causal models are asked by two decodings. The pool has as many bots as the partner set of Sato et al.
(2022), 24.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import UUID

from spotthebot.cli.errors import TooFewDialogues
from spotthebot.cli.evaluations.partner_sets import DIVERSE, find_partner_bots
from spotthebot.contracts.bots.protocols import Sampling, TransformersProtocol
from spotthebot.contracts.bots.registry import BotIn, BotVersionIn
from spotthebot.inference.model_files import files_in, files_sha256_of
from spotthebot.local import sample
from spotthebot.local.progress import Step, Steps
from spotthebot.local.runtime.session import Clients
from spotthebot.local.seeding import LEARNING
from spotthebot.local.training.corpus import TRAIN, VALIDATION, Corpus
from spotthebot.local.training.options import ModelKind, Size, preset
from spotthebot.local.training.progress import Progress
from spotthebot.local.training.train import train

FOLDER: Final = "partners"
"""The usual folder of a pool, in the folder of models."""
SLICES: Final = 6
_BUILT_IN: Final = ("eliza", "parrot", "dull", "ngram:1", "ngram:2")
_COOL: Final = Sampling(temperature=0.7, top_k=20)
_HOT: Final = Sampling(temperature=1.2)
_KINDS: Final[Mapping[ModelKind, tuple[int, Mapping[str, Sampling]]]] = {
    ModelKind.BERT_RANK: (SLICES, {"": Sampling()}),
    ModelKind.KV: (SLICES, {"": Sampling()}),
    ModelKind.GPT: (2, {" cool": _COOL, " hot": _HOT}),
    ModelKind.S2: (2, {"": _COOL}),
    ModelKind.DR: (1, {"": _COOL}),
}
"""The slices that each kind learns, the first ones, and its decodings."""
_BY_HEART: Final = frozenset({ModelKind.GPT, ModelKind.S2})
_LISTED_IN_TABLE_2: Final = (
    *("Tfm-Slf", "Tfm-Lgt", "Tfm-Img", "Tfm-Sfr", "Tfm-Bsm", "GPT-Rdt", "GPT-Rdt", "Tfm-Bsm", "Tfm-Bsm", "Brt-Woi"),
    *("Tfm-Wow", "Tfm-Lgt", "Tfm-Emp", "Tfm-Cv2", "Tfm-Wow", "Tfm-Cv2", "Tfm-Emp", "PEn-Wow", "PEn-All", "PEn-Bsm"),
    "B+F-Wow",
)
"""Architecture and last training data of the 21 partners that Sato et al. (2022) list; Trm, without a note, as Tfm."""


@dataclass(frozen=True)
class Variant:
    """A partner of the pool; `data` is the slice that it learned from, from 1."""

    kind: ModelKind
    data: int
    decoding: str

    @property
    def name(self) -> str:
        return f"{self.directory}{self.decoding}"

    @property
    def directory(self) -> str:
        return f"{self.kind.value}-{self.data}"


VARIANTS: Final = tuple(
    Variant(kind, data, decoding)
    for kind, (slices, decodings) in _KINDS.items()
    for data in range(1, slices + 1)
    for decoding in decodings
)


@dataclass(frozen=True)
class Composition:
    """What a set is made of: its number of bots, and as how many different ones of each kind it is as diverse.

    The latter are n^2 / (sum of squared counts), the measure of `ReplyDiversity` for things that are alike or not.
    """

    bots: int
    architectures: float
    data: float


def compositions() -> dict[str, Composition]:
    """Return the composition of the pool, of the built-in variants, and of Table 2 of Sato et al. (2022)."""
    trained = [(each.kind.value, str(each.data)) for each in VARIANTS]
    return {
        "trained": _composition([*trained, *map(_of_built_in, _BUILT_IN)]),
        "built in": _composition([*map(_of_built_in, DIVERSE)]),
        "Table 2": _composition([(each[:3], each[4:]) for each in _LISTED_IN_TABLE_2]),
    }


def _of_built_in(name: str) -> tuple[str, str]:
    """Return the model and the training data of a built-in variant; a model that learns nothing is its own data."""
    model = name.partition(":")[0]
    return model, "sample" if model in LEARNING else model


def _composition(bots: Sequence[tuple[str, str]]) -> Composition:
    architectures, data = (Counter(each) for each in zip(*bots, strict=True))
    return Composition(len(bots), _effective(architectures), _effective(data))


def _effective(counts: Counter[str]) -> float:
    return counts.total() ** 2 / sum(each**2 for each in counts.values())


def train_pool(folder: Path, corpus: Corpus, max_steps_each: int, seed: int, steps: Steps) -> None:
    """Train the pool's models on slices of a corpus, each below `folder`; models that are there are not trained again.

    Each is trained for at most `max_steps_each` steps; the weights that fit its own slice best are kept. Raises
    TooFewDialogues, TorchIsMissing, TrainingStopped, and the error of a folder with other data or options.
    """
    dialogues = [*corpus.dialogues[TRAIN], *corpus.dialogues[VALIDATION]]
    if len(dialogues) < SLICES:
        raise TooFewDialogues(corpus=corpus.name, dialogues=len(dialogues), needed=SLICES)
    for each in {each.directory: each for each in VARIANTS}.values():
        own, options = dialogues[each.data - 1 :: SLICES], preset(each.kind, Size.TINY)
        epochs = max_steps_each if each.kind in _BY_HEART else options.epochs * SLICES
        with steps.step(f"Training {each.directory}") as step:

            def show(progress: Progress, step: Step = step) -> None:
                step.at(progress.step, progress.steps)

            train(
                each.kind,
                {TRAIN: own, VALIDATION: own[::4]},
                folder / each.directory,
                replace(options, epochs=epochs, max_steps=max_steps_each, seed=seed),
                corpus=f"{corpus.name}, slice {each.data} of {SLICES}",
                today=datetime.now(UTC).date(),
                on_progress=show,
                resume=True,
            )


async def register_pool(clients: Clients, models: Path, folder: str, steps: Steps) -> list[UUID]:
    """Return the bots of a pool trained in `folder` of the services' folder of models; register new or changed ones."""
    bots = []
    with steps.step("Registering bots", len(VARIANTS)) as step:
        for each in VARIANTS:
            bots.append(await _register(clients, models, folder, each))
            step.advance()
    return bots + await find_partner_bots(clients, _BUILT_IN)


async def _register(clients: Clients, models: Path, folder: str, variant: Variant) -> UUID:
    directory = f"{folder}/{variant.directory}"
    protocol = TransformersProtocol(
        kind="transformers", model=directory, sampling=_KINDS[variant.kind][1][variant.decoding]
    )
    async for bot in clients.bots.list_bots(name=variant.name):
        versions = {each.number: each async for each in clients.bots.list_bot_versions(bot.id)}
        same_files = versions[bot.version].files_sha256 == files_sha256_of(files_in(models / directory))
        if bot.protocol != protocol or not same_files:
            await clients.bots.add_bot_version(bot.id, BotVersionIn(protocol=protocol))
        return bot.id
    return (await clients.bots.register_bot(BotIn(name=variant.name, domains=(sample.DOMAIN,), protocol=protocol))).id
