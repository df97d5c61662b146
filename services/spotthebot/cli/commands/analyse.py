"""`stb analyse`: computes the statistics of published data from their files, without a service."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from spotthebot.cli.commands.analysis_options import (
    Annotators,
    AnnotatorsOption,
    StabilityOption,
    StabilityRuleOption,
    takes_parameters,
)
from spotthebot.cli.commands.options import JsonFile, check_folder, check_output, write_json
from spotthebot.cli.commands.rejected_rows import print_rejected
from spotthebot.cli.results.ranking import print_ranking, print_stability
from spotthebot.contracts.analytics.analyses import StabilityParameters
from spotthebot.importers.dump_study import read_study
from spotthebot.importers.published_dump.dump import open_dump
from spotthebot.local.analysis import analyse_labelled, compute_stability
from spotthebot.local.progress import screen, showing_progress
from spotthebot.local.report.analysis_report import AnalysisReport
from spotthebot.local.report.files import write_report


@takes_parameters
def analyse_published(
    path: Annotated[Path, typer.Argument(help="Folder of the published files, or the zip.")],
    domain: Annotated[str, typer.Option(help="dailydialog, empathetic, or convai2 (PersonaChat).")],
    parameters: dict[str, Any],
    json_file: JsonFile = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write a report to this folder, too.")] = None,
    stability: StabilityOption = False,
    stability_rule: StabilityRuleOption = "percentile",
    annotators: AnnotatorsOption = Annotators.CODES,
) -> None:
    """Analyse the published Spot The Bot data from its files, without any service."""
    check_output(json_file)
    if out is not None:
        check_folder(out)
    with open_dump(path, domain) as dump:
        read = read_study(dump)
    print_rejected(read.rejected)
    analysis = analyse_labelled(read.labelled, parameters)
    resampling = StabilityParameters(filter=analysis.filter, rule=stability_rule, seed=analysis.seed)
    with showing_progress() as steps:
        stable = compute_stability(read.labelled, resampling, steps) if stability else None
    document = analysis.model_dump(mode="json")
    write_json(json_file, document | {"stability": stable.model_dump(mode="json")} if stable else document)
    if out is not None:
        write_report(AnalysisReport(analysis, stable, names={} if annotators is Annotators.NAMES else None), out)
        screen.print(f"Report: {out / 'report.html'}", highlight=False, soft_wrap=True)
    if str(json_file) != "-":
        print_ranking(Console(), analysis)
        if stable is not None:
            print_stability(Console(), stable)
