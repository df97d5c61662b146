"""`stb rank`, `report`, `analyse`: what a study says, from the command line."""

import asyncio
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from spotthebot.analytics.domain.analysis import analyse as analyse_study
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.report import write_report
from spotthebot.contracts.analytics import Analysis, Stability
from spotthebot.suite import ranking, reporting
from spotthebot.suite.analysing import read_study
from spotthebot.suite.cli.options import (
    DEFAULT_DATA_DIR,
    DataDir,
    JsonFile,
    Source,
    check_folder,
    check_output,
    folder_at,
    print_rejected,
    write_json,
)
from spotthebot.suite.progress import screen, showing_progress
from spotthebot.suite.published_dump import open_dump
from spotthebot.suite.session import connect, ground


class Filter(StrEnum):
    """Which annotations count."""

    COMPLETE_PACKAGES = "complete_packages"
    NONE = "none"


class Unit(StrEnum):
    """What one game is."""

    ANNOTATION = "annotation"
    SEGMENT = "segment"
    CONVERSATION = "conversation"


class Correction(StrEnum):
    """How p-values of all pairs are corrected."""

    HOLM = "holm"
    BONFERRONI = "bonferroni"
    NONE = "none"


FilterOption = Annotated[Filter, typer.Option("--filter", help="Which annotations count.")]
UnitOption = Annotated[Unit, typer.Option("--unit", help="What one game is.")]
Confidence = Annotated[float, typer.Option("--confidence-level", min=0.001, max=0.9999, help="Of intervals and tests.")]
Resamples = Annotated[int, typer.Option("--resamples", min=1, max=100_000, help="Bootstrap replicates.")]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Same seed, same data: same result.")]
CorrectionOption = Annotated[Correction, typer.Option("--correction", help="Of the p-values of all pairs.")]
ReportFolder = Annotated[Path, typer.Option("--out", help="Folder of the report; made where it is missing.")]
Campaign = Annotated[str, typer.Argument(help="Name or id of the campaign.")]


def rank(
    campaign: Campaign,
    filter_: FilterOption = Filter.COMPLETE_PACKAGES,
    unit: UnitOption = Unit.ANNOTATION,
    confidence_level: Confidence = 0.95,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    correction: CorrectionOption = Correction.HOLM,
    json_file: JsonFile = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Rank the bots of a campaign."""
    check_output(json_file)
    request = Parameters(filter_.value, unit.value, confidence_level, resamples, seed, correction.value)
    with ground(folder_at(data_dir)) as found:

        async def run() -> dict[str, Any]:
            async with connect(found) as clients:
                known = await ranking.find_campaign(clients.annotation, campaign)
                return await ranking.rank(clients, known["id"], asdict(request))

        results = asyncio.run(run())
    write_json(json_file, results)
    if str(json_file) != "-":
        ranking.print_ranking(Console(), results)


def report(
    campaign: Campaign,
    out: ReportFolder,
    stability: Annotated[
        bool, typer.Option("--stability", help="Compute the stability of the ranking first; takes minutes.")
    ] = False,
    filter_: FilterOption = Filter.COMPLETE_PACKAGES,
    unit: UnitOption = Unit.ANNOTATION,
    confidence_level: Confidence = 0.95,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    correction: CorrectionOption = Correction.HOLM,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> None:
    """Write a campaign's report: one HTML page, and its tables as CSV, JSON and LaTeX."""
    check_folder(out)
    request = Parameters(filter_.value, unit.value, confidence_level, resamples, seed, correction.value)
    with ground(folder_at(data_dir)) as found:

        async def run() -> tuple[Analysis, Stability | None]:
            async with connect(found) as clients:
                known = await ranking.find_campaign(clients.annotation, campaign)
                with showing_progress() as steps:
                    with steps.step("Computing the results", total=1):
                        analysis = await reporting.fetch_analysis(clients, known["id"], asdict(request))
                    if stability:
                        asked = {"filter": request.filter, "seed": request.seed}
                        return analysis, await reporting.compute_stability(clients, known["id"], asked, steps)
                return analysis, await reporting.find_stability(clients, known["id"])

        analysis, stable = asyncio.run(run())
    _write(analysis, stable, out)


def analyse(
    _source: Annotated[Source, typer.Argument(metavar="SOURCE", help="Form of the data: spot-the-bot.")],
    path: Annotated[Path, typer.Argument(help="Folder of the published files, or the zip.")],
    domain: Annotated[str, typer.Option(help="dailydialog, empathetic or convai2.")],
    filter_: FilterOption = Filter.COMPLETE_PACKAGES,
    unit: UnitOption = Unit.ANNOTATION,
    confidence_level: Confidence = 0.95,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    correction: CorrectionOption = Correction.HOLM,
    json_file: JsonFile = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write a report to this folder, too.")] = None,
) -> None:
    """Analyse a published study where it lies, without any service."""
    check_output(json_file)
    if out is not None:
        check_folder(out)
    request = Parameters(filter_.value, unit.value, confidence_level, resamples, seed, correction.value)
    with open_dump(path, domain) as dump:
        read = read_study(dump)
    print_rejected(read.rejected)
    analysis = analyse_study(read.study, request)
    results = analysis.model_dump(mode="json")
    write_json(json_file, results)
    if out is not None:
        _write(analysis, None, out)
    if str(json_file) != "-":
        ranking.print_ranking(Console(), results)


def _write(analysis: Analysis, stability: Stability | None, out: Path) -> None:
    write_report(analysis, stability, out)
    screen.print(f"Report: {out / 'report.html'}", highlight=False, soft_wrap=True)
