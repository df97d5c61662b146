"""Dependencies of the endpoints of results: the parameters, and which results a query asks for."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

from spotthebot.analytics.results.use_cases.annotator_ranks import AnnotatorRanks
from spotthebot.analytics.results.use_cases.figures import Figures
from spotthebot.analytics.results.use_cases.measure_results import MeasureResults
from spotthebot.analytics.results.use_cases.recent_results import RecentResults
from spotthebot.analytics.results.use_cases.result_cache import ResultCache
from spotthebot.analytics.results.use_cases.sections import Sections
from spotthebot.analytics.table_files.api import TableForm
from spotthebot.contracts.analytics.figures import FigureParametersIn
from spotthebot.contracts.analytics.provenance import SectionParametersIn
from spotthebot.contracts.analytics.sections import SectionsParametersIn
from spotthebot.kit.web.core.resources import resources_of


@dataclass(frozen=True)
class ResultResources:
    """The results of campaigns that this process computes and caches."""

    results: ResultCache
    measure_results: MeasureResults
    figures: Figures
    recent_results: RecentResults
    sections: Sections
    annotator_ranks: AnnotatorRanks


ServiceResources = Annotated[ResultResources, Depends(resources_of)]
"""The resources that the lifespan of the application opened, as far as results need them."""
SectionParameters = Annotated[SectionParametersIn, Query()]
SectionsParameters = Annotated[SectionsParametersIn, Query()]
FigureParameters = Annotated[FigureParametersIn, Query()]


async def _requested_results(
    resources: ServiceResources, form: TableForm, parameters: SectionParameters
) -> ResultCache | RecentResults:
    # A table has no column for its time.
    return resources.recent_results if parameters.recent and form.file is None else resources.results


async def _requested_figures(resources: ServiceResources, parameters: FigureParameters) -> Figures | RecentResults:
    return resources.recent_results if parameters.recent and parameters.revision is None else resources.figures


RequestedResults = Annotated[ResultCache | RecentResults, Depends(_requested_results)]
"""The current results, or recent ones if the query asks for them."""
RequestedFigures = Annotated[Figures | RecentResults, Depends(_requested_figures)]
