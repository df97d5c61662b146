"""Assesses dimensions of a table of ratings against one dimension, the outcome, by the statistics of `analytics`."""

from pathlib import Path

from spotthebot.analytics.assessments.domain.assessment import AssessmentSettings, assess
from spotthebot.analytics.values.domain.value_table import RatedValue, ValueTable
from spotthebot.contracts.analytics.assessments import Assessment
from spotthebot.importers.errors import NothingToImport
from spotthebot.importers.tables.comparisons import Comparisons, Rating
from spotthebot.importers.tables.errors import NoMeasures, OutcomeNotRated, OutcomeUnknown
from spotthebot.importers.tables.ranking import RankingSettings
from spotthebot.readers.files.cells import shown
from spotthebot.readers.meanings.columns import VALUE_OF, ColumnMapping


def require_outcome(found: Comparisons, outcome: str, mapping: ColumnMapping, path: Path) -> None:
    """Raise an error unless the table has ratings of the outcome and of another dimension.

    The error is NothingToImport, OutcomeUnknown, OutcomeNotRated or NoMeasures.
    """
    if not found.ratings:
        rejected = found.tally.rejected
        raise NothingToImport(file=path.name, reason=rejected[0].reason if rejected else "it has no rows")
    known = ", ".join(shown(each) for each in sorted(found.ratings))
    if outcome not in found.ratings:
        fault = OutcomeNotRated if f"{VALUE_OF}{outcome}" in mapping.columns else OutcomeUnknown
        raise fault(file=path.name, outcome=shown(outcome), known=known)
    if len(found.ratings) == 1:
        raise NoMeasures(file=path.name, outcome=shown(outcome))


def assess_dimensions(found: Comparisons, outcome: str, settings: RankingSettings, *, seed: int) -> Assessment:
    """Assess every other dimension of a table against the `outcome`, in the order of their names.

    All ratings of one bot in one item count as ratings of one dialogue.
    """
    table = ValueTable(pairs_named=found.names_pairs)
    for name, ratings in found.ratings.items():
        table.add(name, map(_value, ratings))
    for item, cluster in found.clusters.items():
        table.add_text(item, cluster)
    chosen = AssessmentSettings(settings.confidence_level, settings.clusters, settings.adjustment, seed)
    return assess(*table.measured(outcome), chosen)


def _value(rating: Rating) -> RatedValue:
    return RatedValue(
        conversation=rating.item,
        bot=rating.bot,
        annotator=rating.annotator,
        turn=rating.turn,
        exchanges=rating.exchanges,
        pair=rating.pair,
        value=rating.value,
        seconds=rating.seconds,
    )
