"""The reports of a campaign by measures of its protocol, and of a study."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

from spotthebot.analytics.figures.assessments import ASSESSMENT_FIGURES, AssessmentInput
from spotthebot.contracts.analytics.figures import Width
from spotthebot.contracts.analytics.measures import MeasureOut, MeasuresOut
from spotthebot.contracts.analytics.mixed_models import MixedModel
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.analytics.studies import StudyAssessmentOut, StudyMeasuresOut
from spotthebot.contracts.analytics.workforces import WorkforceAgreementsOut
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.local.report.design import Design
from spotthebot.local.report.design_tables import design_tables
from spotthebot.local.report.drawings import Drawing, draw
from spotthebot.local.report.findings import measure_finding
from spotthebot.local.report.measure_methods import measure_methods
from spotthebot.local.report.measure_tables import measure_tables, table_key
from spotthebot.local.report.mixed_model_tables import mixed_model_tables
from spotthebot.local.report.references import Prose
from spotthebot.local.report.report import CampaignReport, Notice, Report, program_title
from spotthebot.local.report.study_methods import study_methods
from spotthebot.local.report.study_tables import study_tables, task_sections
from spotthebot.local.report.table import Table
from spotthebot.local.report.workforce_tables import workforce_tables


@dataclass(frozen=True)
class MeasuresReport(CampaignReport):
    """The report of all measures; `headline` is the measure by which bots are ranked, with its pairs.

    `mixed_models` has the fits by the names of their measures, if they were requested.
    """

    headline: MeasureOut
    measures: MeasuresOut
    design: Design | None = None
    workforces: WorkforceAgreementsOut | None = None
    mixed_models: Mapping[str, MixedModel] = field(default_factory=dict)

    template = "measures.html.jinja"

    @property
    def result(self) -> MeasuresOut:
        """Return all measures."""
        return self.measures

    @property
    def document(self) -> Mapping[str, object]:
        """Return all measures, the pairs of the headline, and the mixed models, if there are any."""
        pairs = self.headline.model_dump(mode="json", include={"pairs", "pairs_method"})
        models = {name: each.model_dump(mode="json") for name, each in self.mixed_models.items()}
        return self.measures.model_dump(mode="json") | pairs | ({"mixed_models": models} if models else {})

    @property
    def findings(self) -> tuple[str, ...]:
        """Return how many pairs the headline tells apart, and how far annotators agree by it."""
        alpha = self.headline.alpha
        agreement = f"there is none, because {alpha.reason}" if alpha.estimate is None else f"{alpha.estimate:z.2f}"
        bounds = "" if alpha.low is None or alpha.high is None else f", {alpha.low:z.2f} to {alpha.high:z.2f}"
        ranks = measure_finding(self.headline, self.headline)
        return ranks, f"How far annotators agree, Krippendorff's alpha: {agreement}{bounds}."

    @property
    def methods(self) -> Prose:
        """Return the methods behind the headline."""
        return measure_methods(self.headline, self.design)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """Return the tables of the measures, of mixed models, of agreement by workforce, and of the design."""
        bots = [each.name for each in self.measures.speakers]
        models = mixed_model_tables(self.mixed_models, bots, self.measures.confidence_level)
        found = (*measure_tables(self.headline, self.measures), *models, *workforce_tables(self.workforces))
        return found if self.design is None else (*found, *design_tables(self.design, self.measures))

    @property
    def own_values(self) -> Mapping[str, object]:
        """Return the names of the measures in addition to the headline, with the keys of their tables."""
        names = [each.measure for each in self.measures.measures if each.measure != self.headline.measure]
        return {"further": [(name, table_key(name)) for name in names]}


@dataclass(frozen=True)
class StudyReport(Report):
    """The report of a study.

    `outcome` is the measure by which bots are ranked, with its pairs. `outcome` and `assessment` are None if the study
    names no outcome or if they can't be computed; then `reason` is the sentence that says why.
    `mixed_models` has the fits by the names of their measures, if they were requested.
    """

    measures: StudyMeasuresOut
    outcome: MeasureOut | None
    assessment: StudyAssessmentOut | None
    reason: str | None
    campaigns: tuple[CampaignOut, ...]
    marked: tuple[Speaker, ...]
    workforces: WorkforceAgreementsOut | None = None
    mixed_models: Mapping[str, MixedModel] = field(default_factory=dict)

    template = "study.html.jinja"

    @property
    def result(self) -> StudyMeasuresOut:
        """Return all measures of the study."""
        return self.measures

    @property
    def title(self) -> str:
        """Return the name of the study."""
        return self.measures.study

    @property
    def basis(self) -> str:
        """Return the numbers of measures and tasks."""
        return f"{len(self.measures.measures)} measures of {len(self.measures.sources)} tasks"

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return the tasks whose annotators are programs, and whether annotations are missing."""
        programs = [each for each in self.measures.sources if each.programs]
        found = []
        if programs:
            title = program_title(sum(each.simulated_annotators for each in programs))
            text = "Annotators are programs, so these results say nothing about how people would annotate:"
            tasks = tuple(f"{each.task}: {each.programs} of {each.annotators}" for each in programs)
            found.append(Notice(title, text, tasks))
        return (*found, *super().notices)

    @property
    def judges(self) -> str:
        """Return the number of judges of each task."""
        found = (f"{each.judges} of {each.task}" for each in self.measures.sources if each.judges)
        return ", ".join(found) or "none"

    @property
    def speakers(self) -> tuple[Speaker, ...]:
        """Return the bots and people of the study."""
        return self.marked

    @property
    def document(self) -> Mapping[str, object]:
        """Return all measures, the outcome with its pairs, the assessment, and the mixed models, if there are any."""
        models = {name: each.model_dump(mode="json") for name, each in self.mixed_models.items()}
        return ({"mixed_models": models} if models else {}) | {
            "study": self.measures.model_dump(mode="json"),
            "outcome": self.outcome and self.outcome.model_dump(mode="json"),
            "assessment": self.assessment and self.assessment.model_dump(mode="json"),
        }

    @property
    def findings(self) -> tuple[str, ...]:
        """Return how many pairs the outcome tells apart, then which measures to keep, or why nothing says so."""
        ranks = () if self.outcome is None else (measure_finding(self.outcome, self.outcome),)
        kept = () if self.assessment is None else self.assessment.sentences[:1]
        return (*ranks, *kept, *((self.reason,) if self.reason else ()))

    @property
    def methods(self) -> Prose:
        """Return the methods behind the outcome, the measures and the assessment."""
        return study_methods(self.measures, self.outcome, self.assessment)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """Return the tables of the outcome, of the assessment, of each task, and of mixed models."""
        named = [each.name for each in self.marked]
        bots = dict.fromkeys([*named, *(bot.bot for each in self.measures.measures for bot in each.bots)])
        found = study_tables(self.measures, self.outcome, self.assessment, self.campaigns, [*bots])
        models = mixed_model_tables(self.mixed_models, [*bots], self.measures.confidence_level)
        return *found, *workforce_tables(self.workforces), *models

    @property
    def own_values(self) -> Mapping[str, object]:
        """Return the sections of tasks, and the sentences on measures to keep."""
        return {"sections_of_tasks": task_sections(self.measures), "assessment": self.assessment}

    def draw(self) -> Mapping[str, Drawing]:
        """Draw the figures of the assessment, if there is one."""
        if self.assessment is None:
            return {}
        assessment = self.assessment
        return {name: draw(partial(_drawn, name, assessment)) for name in ASSESSMENT_FIGURES}


def _drawn(name: str, assessment: StudyAssessmentOut, width: Width) -> dict[str, object]:
    return ASSESSMENT_FIGURES[name](AssessmentInput(assessment, width=width))
