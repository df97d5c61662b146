"""Small trainings on the sample corpus."""

from dataclasses import replace
from datetime import date

from spotthebot.local.sample import sample_dialogues
from spotthebot.local.training.corpus import with_validation
from spotthebot.local.training.options import Size, preset
from spotthebot.local.training.train import train
from tests.factories.lazy_imports import lazily

torch = lazily("torch")
TODAY = date(2026, 11, 21)
# A quarter of the sample in batches of a quarter of the size: as many steps an epoch.
SAMPLE = [tuple(each["turns"]) for each in sample_dialogues() if each["split"] == "train"][::4]


def tiny(kind, **changed):
    options = preset(kind, Size.TINY)
    return replace(options, **{"max_steps": 40, "batch_size": options.batch_size // 4, **changed})


def run(kind, out, dialogues=None, *, options=None, **more):
    corpus = with_validation("sample", {"train": dialogues or SAMPLE})
    return train(kind, corpus.dialogues, out, options or tiny(kind), corpus="sample", today=TODAY, **more)
