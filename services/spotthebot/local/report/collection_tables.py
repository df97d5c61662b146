"""The report's tables of the collections of a study: their settings, and the seconds of their chats."""

from collections.abc import Iterator, Mapping
from typing import Final

from spotthebot.contracts.conversations.openings import HumanPool, Opening
from spotthebot.local.report.design import Collection, Design
from spotthebot.local.report.table import Cell, Column, Table, interval

_MODES: Final = {
    "all_play_all": "all-play-all",
    "bipartite": "bipartite-play",
    "self_play": "self-play",
    "human_bot": "people with bots",
    "import": "imported",
}
_TAKEN: Final = {
    "first_utterance": "first utterance",
    "first_exchange": "first exchange",
    "first_two_utterances": "first two utterances",
}


def collections_table(design: Design) -> Table:
    """Return a row for each collection of the design."""
    return Table(
        key="collections",
        title="Collections",
        caption="Openings are utterances of people that conversations begin with; their share is that of the complete"
        " conversations.",
        columns=(
            Column("collection", "Collection"),
            Column("mode", "Mode"),
            Column("openings", "Openings"),
            Column("opened_share", "Share", 2),
            Column("people", "Between people"),
            Column("exchanges", "Exchanges"),
            Column("conversations_per_pair", "Per pair"),
            Column("complete", "Complete"),
            Column("failed", "Failed"),
            Column("seed", "Seed"),
        ),
        rows=tuple(_collection_row(each) for each in design.collections),
    )


def chats_tables(design: Design) -> Iterator[Table]:
    """Yield the seconds of chats by collection; nothing without chats."""
    found = [each.times for each in design.collections if each.times is not None]
    if found:
        yield Table(
            key="chats",
            title="Seconds of a chat",
            caption="Median seconds that people chat with a bot, for one conversation, from its beginning to its last"
            " turn. Compare Table 4 of Spot The Bot.",
            columns=(
                Column("collection", "Collection"),
                Column("n", "Chats"),
                Column("people", "People"),
                Column("median_seconds", "Median seconds", 1),
                *interval(),
            ),
            rows=tuple(
                (each.name, each.time.n, each.annotators, each.time.median_seconds, each.time.low, each.time.high)
                for each in found
            ),
        )


def _collection_row(found: Collection) -> tuple[Cell, ...]:
    counted, plan = found.conversations, found.plan
    return (
        found.collection.name,
        mode_of(found),
        _opening(plan.opening, found.corpora) if plan.opening else "none" if found.knows_openings else "not known",
        counted.opened / counted.complete if counted.complete and found.knows_openings else None,
        _people(plan.humans, found.corpora) if plan.humans else f"{counted.by_people:,}",
        plan.exchanges,
        plan.conversations_per_pair,
        counted.complete,
        found.collection.failed,
        None if plan.seed is None else str(plan.seed),
    )


def _opening(opening: Opening, corpora: Mapping[str, str]) -> str:
    shown = "shown to annotators" if opening.shown else "hidden from annotators"
    if opening.first_words is not None:
        return f"the words {opening.first_words!a}, {shown}"
    taken = _TAKEN.get(str(opening.take), f"{opening.take} utterances")
    shown = f"with their speakers' personas, {shown}" if opening.personas else shown
    return f"{taken} of {corpora.get(str(opening.corpus_id), 'a corpus')} (split {opening.split}), {shown}"


def _people(humans: HumanPool, corpora: Mapping[str, str]) -> str:
    return f"{humans.conversations:,} of {corpora.get(str(humans.corpus_id), 'a corpus')} (split {humans.split})"


def mode_of(found: Collection) -> str:
    """Return how a collection's conversations were held."""
    if found.plan.held_as:
        return f"{_MODES.get(found.plan.held_as, found.plan.held_as)}, imported"
    return _MODES.get(found.plan.mode, found.plan.mode)
