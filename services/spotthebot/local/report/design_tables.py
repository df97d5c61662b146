"""The report's tables of the design of a study."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from statistics import median
from typing import Final

from spotthebot.analytics.figures.labels import percent
from spotthebot.contracts.analytics.provenance import Provenance
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.local.report.collection_tables import chats_tables, collections_table, mode_of
from spotthebot.local.report.design import Collection, Conversations, Design
from spotthebot.local.report.table import Column, Table

_CAMPAIGN_MODES: Final = {
    "live": "made by the service",
    "uploaded": "uploaded",
}
_PANELS: Final = {
    "prolific": "Prolific",
    "cloudresearch": "CloudResearch Connect",
    "generic": "a panel",
    "mturk": "Mechanical Turk",
}
_UNITS: Final = {
    "segment": "segment",
    "dialogue": "conversation",
    "turns": "conversation",
    "pair": "pair of conversations",
}


def design_tables(design: Design, result: Provenance) -> tuple[Table, ...]:
    """Return the design of a study as a table of facts, and its collections as another table."""
    return _facts(design, result), collections_table(design), *chats_tables(design)


def _facts(design: Design, result: Provenance) -> Table:
    facts = (
        *_what_was_annotated(design, result),
        *_who_annotated(design, result),
        *_pay(design, result),
        *_when_and_how(design, result),
    )
    return Table(
        key="design",
        title="Design of the study",
        caption="As the campaign and its collections say it.",
        columns=(Column("fact", "Fact"), Column("value", "In this study")),
        rows=facts,
    )


def _what_was_annotated(design: Design, result: Provenance) -> list[tuple[str, str]]:
    campaign, counted = design.campaign, [each.conversations for each in design.collections]
    complete, people = sum(each.complete for each in counted), sum(each.by_people for each in counted)
    exchanges = sum((each.exchanges for each in counted), Counter[int]())
    asked = "" if campaign.human_share is None else f"; {percent(campaign.human_share)} asked for"
    left_out = [
        f"{number:,} {words}"
        for number, words in (
            (campaign.too_short, "shorter than the longest length shown"),
            (campaign.not_selected, "not drawn, or in two collections"),
            (campaign.unpaired, "without a pair"),
        )
        if number
    ]
    return [
        ("Protocol", f"{campaign.protocol}, version {campaign.protocol_version}"),
        ("Bots", _listed(_bots(counted, result))),
        (
            "Conversations",
            (
                f"{complete:,} complete, {people:,} of them between people ({_share(people, complete)}{asked});"
                f" {result.counts.annotated_conversations:,} annotated"
            ),
        ),
        ("Mode of collection", _listed(dict.fromkeys(mode_of(each) for each in design.collections))),
        ("Exchanges in a conversation", _spread(exchanges)),
        ("Exchanges shown to annotators", _shown(design)),
        ("With an opening", _opened(design.collections)),
        ("Conversations left out", _listed(left_out) or "none"),
    ]


def _shown(design: Design) -> str:
    lengths = design.campaign.segments
    if design.protocol.unit.kind == "segment":
        return _listed(str(each) for each in lengths)
    return f"up to {lengths[-1]}, opened one by one" if design.protocol.opens_one_by_one else "all"


def _opened(collections: Sequence[Collection]) -> str:
    known = [each.conversations for each in collections if each.knows_openings]
    if not known:
        return "not known of imported conversations"
    opened, complete = sum(each.opened for each in known), sum(each.complete for each in known)
    unknown = "" if len(known) == len(collections) else "; not known of the imported ones"
    return f"{opened:,} conversations ({_share(opened, complete)}){unknown}"


def _bots(counted: Iterable[Conversations], result: Provenance) -> list[str]:
    """Return the bots of complete conversations: annotated ones by strength, then the others by name."""
    spoke = {name for each in counted for pair in each.speakers for name in pair} - {HUMAN_NAME}
    ranked = [each.name for each in result.speakers if each.name in spoke]
    return [*ranked, *sorted(spoke.difference(ranked))]


def _who_annotated(design: Design, result: Provenance) -> list[tuple[str, str]]:
    campaign, counts = design.campaign, result.counts
    given = counts.annotations / counts.segments if counts.segments else 0.0
    annotators = ("Annotators", counts.annotator_words if counts.programs else f"{counts.annotators:,}")
    annotations = f"Annotations of a {_UNITS[design.protocol.unit.kind]}"
    average = f"{given:.2f}{' counted' if campaign.mode != 'import' else ''} on average"
    if counts.judges:
        average += ", judges' included"
    elif campaign.annotations > counts.annotations:
        average += f"; {campaign.annotations - counts.annotations:,} of {campaign.annotations:,} left out"
    if campaign.mode == "import":
        return [
            annotators,
            (annotations, average),
            ("Packages", f"{campaign.packages:,}, imported with their annotations"),
            ("Recruitment, training, screening", "not known of imported annotations"),
        ]
    made = _CAMPAIGN_MODES.get(campaign.mode, campaign.mode)
    units = "pairs of conversations" if design.protocol.unit.kind == "pair" else "conversations"
    drawn = "" if campaign.units_twice is None else f", 2 in {campaign.units_twice:,} drawn {units}"
    at_most = "" if campaign.packages_per_annotator is None else f"; at most {campaign.packages_per_annotator:,} each"
    return [
        annotators,
        (annotations, f"{campaign.annotations_per_segment} asked for{drawn}, {average}"),
        ("Packages", f"{campaign.packages:,}, {made}, of at most {campaign.package_size} items{at_most}"),
        ("Recruitment", _PANELS[campaign.panel.kind] if campaign.panel else "by no panel"),
        ("Consent", "asked for" if campaign.consent else "not asked for"),
        ("Training", _training(campaign)),
        ("Screening", _screening(design)),
    ]


def _training(campaign: CampaignOut) -> str:
    needed = campaign.training
    if needed is None:
        return "none"
    version = "" if needed.version is None else f", version {needed.version}"
    return f"{needed.name}{version}, passed in {_attempts(needed.attempts)}"


def _attempts(number: int) -> str:
    return "one attempt" if number == 1 else f"at most {number} attempts"


def _screening(design: Design) -> str:
    campaign, found = design.campaign, []
    if campaign.gold is not None:
        seen = design.screened
        right = f" ({seen.gold_right:,} right, {seen.gold_wrong:,} wrong)" if seen else ""
        found.append(f"{campaign.gold.per_package} gold items in a package{right}")
    if campaign.min_seconds_per_item is not None:
        found.append(f"items below {campaign.min_seconds_per_item:g} s count as fast")
    if campaign.min_fraction_of_median is not None:
        found.append(f"items below {percent(campaign.min_fraction_of_median)} of others' median count as fast")
    if campaign.max_strikes is not None:
        found.append(f"blocked at {campaign.max_strikes} strikes")
    if design.screened is not None and design.screened.blocked:
        found.append(f"{design.screened.blocked:,} blocked")
    return "; ".join(found) or "none"


def _pay(design: Design, result: Provenance) -> list[tuple[str, str]]:
    campaign, paid = design.campaign, design.paid
    if campaign.pay_per_package is None:
        return [("Pay", "not known of imported annotations" if campaign.mode == "import" else "none")]
    pay = ("Pay", f"{campaign.pay_per_package:.2f} {campaign.currency} for a package")
    if paid is None:
        return [pay]
    conversations, annotations = result.counts.annotated_conversations, result.counts.annotations
    split = f"{paid.packages:,.2f} for packages, {paid.bonuses:,.2f} as bonuses"
    each = f"{_each(paid.total, conversations)} for a conversation, {_each(paid.total, annotations)} for an annotation"
    return [
        pay,
        ("Paid", f"{paid.total:,.2f} {campaign.currency} to {paid.annotators:,} annotators: {split}"),
        ("Cost", f"{each} ({campaign.currency})"),
    ]


def _when_and_how(design: Design, result: Provenance) -> list[tuple[str, str]]:
    held = [each.collection for each in design.collections if each.plan.mode != "import"]
    imported = [each.collection for each in design.collections if each.plan.mode == "import"]
    days = [
        (f"Conversations {word}", _days(min(each.created_at for each in found), max(map(_end, found))))
        for word, found in (("held", held), ("imported", imported))
        if found
    ]
    seeds = (
        f"collection {each.collection.name} {each.plan.seed}"
        for each in design.collections
        if each.plan.seed is not None
    )
    return [
        *days,
        ("Annotated", _days(*design.annotated) if design.annotated else "not known"),
        ("Seeds", ", ".join([*seeds, f"campaign {design.campaign.seed}", f"results {result.seed}"])),
        ("Software", f"spotthebot {result.version}"),
    ]


def _end(collection: CollectionOut) -> datetime:
    return collection.finished_at or collection.created_at


def _spread(exchanges: Counter[int]) -> str:
    lengths = sorted(exchanges.elements())
    if not lengths:
        return "none"
    return (
        f"{lengths[0]}" if lengths[0] == lengths[-1] else f"{lengths[0]} to {lengths[-1]}, median {median(lengths):g}"
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "none"


def _each(total: Decimal, number: int) -> str:
    return f"{total / number:.3f}" if number else "-"


def _days(first: datetime, last: datetime) -> str:
    begin, end = f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}"
    return begin if begin == end else f"{begin} to {end}"


def _listed(words: Iterable[str]) -> str:
    *before, last = ["", *words]
    return f"{', '.join(before[1:])} and {last}" if before[1:] else last
