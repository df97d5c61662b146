"""The card of an exported data set: what it holds, how it came about, and whose the texts are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from textwrap import dedent

from spotthebot.contracts.conversations.conversations import Participant

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True)
class SourceCorpus:
    """A corpus that openings or human conversations were taken from."""

    name: str
    origin: str
    licence: str


@dataclass(frozen=True)
class Provenance:
    """What a card says of a collection."""

    name: str
    domain: str
    mode: str
    collection_id: str
    begun: date
    conversations: int
    asked_for: dict[str, object]
    """Numbers of the plan by their name, such as `exchanges` and `seed`."""
    speakers: Sequence[Participant]
    corpora: Sequence[SourceCorpus]
    software: str


def write_card(told: Provenance) -> str:
    """Return the card: YAML that says where the data files are, then prose."""
    size = next((label for most, label in _SIZES if told.conversations < most), "1M<n<10M")
    facts = "\n".join(f"| {name} | {value} |" for name, value in told.asked_for.items())
    speakers = "\n".join(
        f"| {_cell(each.name)} | {each.kind} | {each.version or ''} | {each.configuration_sha256 or ''} |"
        for each in told.speakers
    )
    corpora = "\n".join(
        f"- {_line(each.name)}: {_line(each.origin)} Licence: {_line(each.licence)}." for each in told.corpora
    )
    return _CARD.format(
        name=_line(told.name),
        quoted=_quoted(told.name),
        size=size,
        conversations=told.conversations,
        mode=told.mode,
        domain=told.domain,
        begun=told.begun.isoformat(),
        id=told.collection_id,
        software=told.software,
        facts=facts,
        speakers=speakers,
        corpora=corpora or "- No text of people was taken from a corpus.",
    )


def _quoted(text: str) -> str:
    """Return a YAML scalar that is the text whatever it holds (JSON strings are such)."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(each if each.isprintable() else " " for each in escaped) + '"'


def _line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")


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
    B were, `state` and `failure` whether it came to its end.

    ## How it came about

    | | |
    |---|---|
    | Collection | {id} |
    | Mode | {mode} |
    | Begun | {begun} |
    | Software | {software} |
    {facts}

    | Speaker | Kind | Version | Configuration (SHA-256) |
    |---|---|---|---|
    {speakers}

    ## Licence

    What a bot said is under the terms of whoever runs the bot; the suite adds none of its own. Text of people is from:

    {corpora}
    """)
