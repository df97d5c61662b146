"""Chooses the reader for a file format."""

from collections.abc import Callable, Mapping
from functools import partial

from spotthebot.contracts.conversations.corpora import CorpusFormat
from spotthebot.conversations.corpora.domain.formats.dailydialog import DailyDialogLines
from spotthebot.conversations.corpora.domain.formats.empathetic import EmpatheticLines
from spotthebot.conversations.corpora.domain.formats.lines import LineParser, Reader
from spotthebot.conversations.corpora.domain.formats.own import OwnLines
from spotthebot.conversations.corpora.domain.formats.parlai import ParlAILines
from spotthebot.conversations.corpora.domain.formats.records import Outcome
from spotthebot.conversations.corpora.domain.formats.spot_the_bot import SpotTheBotLines


def reader_of(form: CorpusFormat, *, bots_too: bool = False) -> Reader[Outcome]:
    """Return a reader to feed with a file's bytes.

    With `bots_too`, it also yields the dialogues with bots from the Spot The Bot dump.
    """
    parsers: Mapping[CorpusFormat, Callable[[], LineParser[Outcome]]] = {
        CorpusFormat.JSONL: OwnLines,
        CorpusFormat.DAILYDIALOG: DailyDialogLines,
        CorpusFormat.EMPATHETIC: EmpatheticLines,
        CorpusFormat.PARLAI: ParlAILines,
        CorpusFormat.SPOT_THE_BOT: partial(SpotTheBotLines, bots_too=bots_too),
    }
    return Reader(parsers[form]())
