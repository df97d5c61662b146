"""The content of every report: of a campaign by any protocol, or of a study."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from spotthebot.contracts.analytics.provenance import Provenance
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.analytics.studies import StudyProvenance
from spotthebot.local.report.drawings import Drawing
from spotthebot.local.report.references import Prose
from spotthebot.local.report.samples import SampleGroup
from spotthebot.local.report.table import Table


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


class CampaignReport(Report):
    """The content of a campaign's report."""

    @property
    @abstractmethod
    def result(self) -> Provenance:
        """Return the result, of which every page states the campaign, the counts and the settings."""

    @property
    def title(self) -> str:
        """Return the name of the campaign."""
        return self.result.campaign

    @property
    def speakers(self) -> tuple[Speaker, ...]:
        """Return the campaign's bots and people."""
        return self.result.speakers
