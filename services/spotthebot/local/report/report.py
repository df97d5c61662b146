"""The content of every report: of a campaign by any protocol, or of a study."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from spotthebot.contracts.analytics.provenance import Provenance
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.analytics.studies import StudyProvenance
from spotthebot.local.report.drawings import Drawing
from spotthebot.local.report.references import Prose
from spotthebot.local.report.samples import SampleGroup
from spotthebot.local.report.table import Table


@dataclass(frozen=True)
class Notice:
    """A warning at the beginning of a report, in all its forms."""

    title: str
    text: str = ""
    items: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Return the warning in one line."""
        return " ".join(filter(None, (f"{self.title}.", self.text, *self.items)))


class Report(ABC):
    """The content of a report: the same tables for its page, for programs and for papers."""

    template: ClassVar[str]
    """The file of the page's own sections."""

    @property
    @abstractmethod
    def result(self) -> Provenance | StudyProvenance:
        """Return the result, of which every page states the origin and the settings."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Return the name of the campaign or the study."""

    @property
    @abstractmethod
    def basis(self) -> str:
        """Return how much data the results are based on."""

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return the warnings about the data."""
        return (Notice("Preliminary", "Annotations are still missing."),) if self.result.preliminary else ()

    @property
    @abstractmethod
    def judges(self) -> str:
        """Return which judges' labels count, or how many; `none` without judges."""

    @property
    def settings(self) -> tuple[tuple[str, object], ...]:
        """Return the parameters of the results by their names for people."""
        result = self.result
        return (
            ("Filter", result.filter),
            ("Judges", self.judges),
            ("Clusters", result.clusters),
            ("Correction", result.correction),
            ("Confidence level", result.confidence_level),
            ("Significance level", result.significance_level),
            ("Seed", result.seed),
        )

    @property
    @abstractmethod
    def speakers(self) -> tuple[Speaker, ...]:
        """Return the bots and people with their marks."""

    @property
    @abstractmethod
    def document(self) -> Mapping[str, object]:
        """Return all results as JSON."""

    @property
    @abstractmethod
    def findings(self) -> tuple[str, ...]:
        """Return the sentences at the beginning of the page; the first one is about the ranks."""

    @property
    @abstractmethod
    def methods(self) -> Prose:
        """Return how the results were made."""

    @property
    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """Return all tables that have rows."""

    @property
    def sample_groups(self) -> tuple[SampleGroup, ...]:
        """Return the sample conversations with their texts."""
        return ()

    @property
    def own_values(self) -> Mapping[str, object]:
        """Return the values that only the report's own template needs."""
        return {}

    def draw(self) -> Mapping[str, Drawing]:
        """Draw the figures."""
        return {}


def program_title(simulated: int) -> str:
    """Return the title of the warning that annotators are programs."""
    return "Simulated annotators" if simulated else "Judges"


class CampaignReport(Report):
    """The content of a campaign's report."""

    has_segments: ClassVar[bool] = False
    """Whether annotators see segments of conversations."""

    @property
    @abstractmethod
    def result(self) -> Provenance:
        """Return the result, of which every page states the campaign, the counts and the settings."""

    @property
    def title(self) -> str:
        """Return the name of the campaign."""
        return self.result.campaign

    @property
    def basis(self) -> str:
        """Return the numbers of annotations, conversations and annotators, and the domain."""
        counts = self.result.counts
        segments = f"{counts.segments:,} segments of " if self.has_segments else ""
        return (
            f"{counts.annotations:,} annotations of {segments}{counts.annotated_conversations:,} conversations by"
            f" {counts.annotator_words}; domain {self.result.domain}"
        )

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return whether annotators are programs, texts repeat, and annotations are missing."""
        counts, repeated = self.result.counts, self.result.repeated_texts
        programs = f"{counts.program_words}: these results say nothing about how people would annotate."
        found = [Notice(program_title(counts.simulated_annotators), programs)] if counts.programs else []
        if repeated:
            found.append(Notice("Repeated texts", items=tuple(each.sentence for each in repeated)))
        return (*found, *super().notices)

    @property
    def judges(self) -> str:
        """Return the number of judges whose labels count."""
        return str(self.result.counts.judges or "none")

    @property
    def speakers(self) -> tuple[Speaker, ...]:
        """Return the campaign's bots and people."""
        return self.result.speakers
