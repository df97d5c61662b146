"""`stb analyse`: the statistics of a published study, from its files alone."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from spotthebot.analytics.domain.analysis import analyse as analyse_study
from spotthebot.analytics.domain.analysis_steps import StabilitySteps
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.domain.study import Study, take_sample
from spotthebot.analytics.report import Report, write_report
from spotthebot.cli.commands.analysis_options import (
    Annotators,
    AnnotatorsOption,
    StabilityOption,
    StabilityRule,
    StabilityRuleOption,
    takes_parameters,
)
from spotthebot.cli.commands.options import JsonFile, check_folder, check_output, write_json
from spotthebot.cli.commands.rejected_rows import print_rejected
from spotthebot.cli.studies.ranking import print_ranking, print_stability
from spotthebot.contracts.analytics.analyses import Stability, StabilityParameters
from spotthebot.importers.dump_study import read_study
from spotthebot.importers.published_dump import open_dump
from spotthebot.local.progress import screen, showing_progress


@takes_parameters
def analyse_published(
    path: Annotated[Path, typer.Argument(help="Folder of the published files, or the zip.")],
    domain: Annotated[str, typer.Option(help="dailydialog, empathetic or convai2.")],
    parameters: dict[str, Any],
    json_file: JsonFile = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write a report to this folder, too.")] = None,
    stability: StabilityOption = False,
    stability_rule: StabilityRuleOption = StabilityRule.PERCENTILE,
    annotators: AnnotatorsOption = Annotators.CODES,
) -> None:
    """Analyse the published Spot The Bot data where it lies, without any service."""
    check_output(json_file)
    if out is not None:
        check_folder(out)
    request = Parameters(**parameters)
    with open_dump(path, domain) as dump:
        read = read_study(dump)
    print_rejected(read.rejected)
    analysis = analyse_study(read.study, request)
    resampling = StabilityParameters(filter=request.filter, rule=stability_rule.value, seed=request.seed)
    stable = _stability(read.study, resampling) if stability else None
    document = analysis.model_dump(mode="json")
    write_json(json_file, document | {"stability": stable.model_dump(mode="json")} if stable else document)
    if out is not None:
        write_report(Report(analysis, stable, names={} if annotators is Annotators.NAMES else None), out)
        screen.print(f"Report: {out / 'report.html'}", highlight=False, soft_wrap=True)
    if str(json_file) != "-":
        print_ranking(Console(), analysis)
        if stable is not None:
            print_stability(Console(), stable)


def _stability(study: Study, request: StabilityParameters) -> Stability:
    work = StabilitySteps(request, take_sample(study, request.filter))
    with showing_progress() as steps, steps.step("Computing the stability of the ranking", work.steps) as step:
        results = []
        for at in range(work.steps):
            results.append(work.compute(at))
            step.advance()
    return work.assemble(results)
