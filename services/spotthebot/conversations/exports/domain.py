"""Exports of collections: their rows, and the card of an exported data set.

A data set's card says `license: other`, since we can't license the texts of other people's bots. The card's text names
the licences of the corpora.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from textwrap import dedent

from spotthebot.contracts.conversations.conversations import Participant
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.contracts.conversations.ids import ConversationId

_MARKUP = re.compile(r"[\\`*_\[\]<>&|~!#$]|^[-+=]|(?<=^\d)[.)]|(?<=^\d\d)[.)]")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True)
class ExportedRow:
    """A row of an export, and the id of its conversation in this database."""

    id: ConversationId
    conversation: ExportedConversation


@dataclass(frozen=True)
class SourceCorpus:
    """A corpus that openings or human conversations were drawn from."""

    name: str
    origin: str
    licence: str


@dataclass(frozen=True)
class CardFacts:
    """The facts that a card states; `settings` has numbers of the plan by their names, such as `exchanges`."""

    name: str
    domain: str
    mode: str
    collection_id: str
    started: date
    conversations: int
    settings: dict[str, object]
    participants: Sequence[Participant]
    corpora: Sequence[SourceCorpus]
    software: str


def write_card(facts: CardFacts) -> str:
    """Return a data set's card: YAML that names the data files, then prose."""
    size = next((label for limit, label in _SIZES if facts.conversations < limit), "1M<n<10M")
    settings = "\n".join(f"| {_text(name)} | {_text(str(value))} |" for name, value in facts.settings.items())
    participants = "\n".join(
        f"| {_text(each.name)} | {each.kind} | {each.version or ''} | {each.configuration_sha256 or ''} |"
        for each in facts.participants
    )
    corpora = "\n".join(
        f"- {_text(each.name)}: {_text(each.origin)} Licence: {_text(each.licence)}." for each in facts.corpora
    )
    return _CARD.format(
        name=_text(facts.name),
        quoted=_quoted(facts.name),
        size=size,
        conversations=facts.conversations,
        mode=_text(facts.mode),
        domain=_text(facts.domain),
        started=facts.started.isoformat(),
        id=facts.collection_id,
        software=_text(facts.software),
        settings=settings,
        participants=participants,
        corpora=corpora or "- No text of people was taken from a corpus.",
    )


def _quoted(text: str) -> str:
    """Return any text as a YAML scalar, i.e. as a JSON string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(each if each.isprintable() else " " for each in escaped) + '"'


def _text(text: str) -> str:
    """Return Markdown that shows any text literally, on one line; no character acts as markup.

    A backslash makes any punctuation a plain character (CommonMark 0.31, 2.4).
    """
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


_CARD = dedent("""\
    ---
    pretty_name: {quoted}
    license: other
    license_name: see-licence-below
    license_link: README.md
    task_categories:
    - text-generation
    tags:
    - dialogue
    - chatbot-evaluation
    - spot-the-bot
    size_categories:
    - {size}
    configs:
    - config_name: default
      data_files:
      - split: train
        path: data/train-*.parquet
    ---

    # {name}

    {conversations} conversations of the domain {domain}, collected with the suite Spot The Bot. One row is one
    conversation: `turns` holds what A and B said, `opening` what people had said before them, `participants` who A and
    B were, `state` and `failure` whether it was completed.

    ## How it was collected

    | | |
    |---|---|
    | Collection | {id} |
    | Mode | {mode} |
    | Started | {started} |
    | Software | {software} |
    {settings}

    | Speaker | Kind | Version | Configuration (SHA-256) |
    |---|---|---|---|
    {participants}

    ## Licence

    What a bot said is under the terms of the bot's operator; the suite adds none of its own. Text of people is from:

    {corpora}
    """)
