"""The report of a campaign by Spot The Bot, or of published files."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from spotthebot.analytics.figures.catalogue import FIGURES
from spotthebot.analytics.figures.labels import percent
from spotthebot.contracts.analytics.analyses import Stability
from spotthebot.contracts.analytics.interactor_ratings import InteractorRatingsOut
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.local.report.annotators import annotator_codes, with_annotators
from spotthebot.local.report.design import Design
from spotthebot.local.report.design_tables import design_tables
from spotthebot.local.report.drawings import Drawing, draw_figure
from spotthebot.local.report.findings import findings
from spotthebot.local.report.fooling_tables import interactor_tables
from spotthebot.local.report.methods import has_games, methods
from spotthebot.local.report.references import Prose
from spotthebot.local.report.report import CampaignReport
from spotthebot.local.report.samples import TIES, SampleGroup, Samples, written_samples
from spotthebot.local.report.table import Table
from spotthebot.local.report.tables import has_features, tables


@dataclass(frozen=True)
class AnalysisReport(CampaignReport):
    """The report of an analysis; the stability figure is left out if it was not computed.

    `names` are the annotators' names; codes if it is None. Results of files have no `design`, no `samples`
    and no `ratings`.
    """

    analysis: Analysis
    stability: Stability | None
    names: Mapping[str, str] | None = None
    design: Design | None = None
    samples: Samples | None = None
    ratings: InteractorRatingsOut | None = None

    template = "analysis.html.jinja"
    has_segments = True

    @cached_property
    def annotators(self) -> Mapping[str, str]:
        """Return the name of each annotator in the report."""
        if self.names is not None:
            return self.names
        found = self.analysis.annotators.annotators
        programs = [each.annotator for each in found if each.kind is not AnnotatorKind.PERSON]
        return annotator_codes([each.annotator for each in found], programs)

    @property
    def judges(self) -> str:
        """Return the names of the judges whose labels count."""
        found = (each.annotator for each in self.result.annotators.annotators if each.kind is AnnotatorKind.JUDGE)
        return ", ".join(found) or "none"

    @property
    def settings(self) -> tuple[tuple[str, object], ...]:
        """Return the parameters that the analysis used."""
        result = self.result
        return (
            *super().settings,
            ("Test", result.test),
            ("Unit of a game", result.unit),
            *([("Weighting", result.weighting)] if result.unit == "conversation" else []),
            ("Weak annotators", f"right in less than {', '.join(map(str, result.weak_thresholds))}"),
            *([("Replicates", f"{result.resamples} (draws of ranks, permutations)")] if has_games(result) else []),
        )

    @cached_property
    def result(self) -> Analysis:
        """Return the analysis with the report's names of annotators."""
        return with_annotators(self.analysis, self.annotators)

    @property
    def document(self) -> Mapping[str, object]:
        """Return the analysis, the stability, and the ratings of those who chatted, if any."""
        stability = self.stability and self.stability.model_dump(mode="json")
        document = self.result.model_dump(mode="json") | {"stability": stability}
        if self.ratings is not None:
            document["interactor_ratings"] = self.ratings.model_dump(mode="json")
        return document

    @property
    def findings(self) -> tuple[str, ...]:
        """Return the findings of the ranks, then those of the other measures."""
        return findings(self.result)

    @property
    def methods(self) -> Prose:
        """Return the methods that the analysis used."""
        return methods(self.result, self.stability)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """Return the tables of the analysis, then those of the design."""
        found = tables(self.result)
        if self.ratings is not None:
            found = (*found, *interactor_tables(self.ratings, percent(self.analysis.confidence_level)))
        return found if self.design is None else (*found, *design_tables(self.design, self.analysis))

    @cached_property
    def sample_groups(self) -> tuple[SampleGroup, ...]:
        """Return the sample conversations with their texts and labels."""
        return () if self.samples is None else written_samples(self.samples, self.annotators)

    @property
    def own_values(self) -> Mapping[str, object]:
        """Return the analysis, and what the page says of samples and annotators."""
        return {
            "analysis": self.result,
            "has_features": has_features(self.result),
            "samples": self.samples,
            "sample_groups": self.sample_groups,
            "ties": TIES,
            "are_codes": self.names is None,
        }

    def draw(self) -> Mapping[str, Drawing]:
        """Draw the figures that have data."""
        optional = {"stability": self.stability is not None, "features": has_features(self.result)}
        return {name: draw_figure(name, self.result, self.stability) for name in FIGURES if optional.get(name, True)}
