"""`stb loadtest`: tests a suite under load from simulated people and bots."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column

from spotthebot.cli.commands.local_commands import on_this_machine
from spotthebot.cli.commands.options import JsonFile, check_output, folder_at, write_json
from spotthebot.cli.results.tables import Table
from spotthebot.local.loadtest.plan import LoadPlan
from spotthebot.local.loadtest.record import LOAD
from spotthebot.local.loadtest.result import LoadResult
from spotthebot.local.loadtest.run import run_load
from spotthebot.local.progress import say, showing_progress
from spotthebot.local.runtime.bootstrap import bootstrap
from spotthebot.local.runtime.data_folder import DEFAULT_DATA_DIR

_DEFAULT_FOLDER = DEFAULT_DATA_DIR.with_name(f"{DEFAULT_DATA_DIR.name}-loadtest")


@on_this_machine
def loadtest(
    minutes: Annotated[float, typer.Option(min=0.02, help="How long, after the warm-up.")] = 30,
    annotators: Annotated[int, typer.Option(min=0, max=5000, help="Simulated annotators, who answer at random.")] = 200,
    bots: Annotated[int, typer.Option(min=2, max=100, help="Built-in bots, who converse with each other.")] = 32,
    chats: Annotated[int, typer.Option(min=0, max=1000, help="Simulated people who chat with bots.")] = 8,
    dashboards: Annotated[int, typer.Option(min=0, max=100, help="Simulated readers of a live dashboard.")] = 4,
    warm_up: Annotated[float, typer.Option(min=0, help="Seconds of the same load that no figure holds.")] = 60,
    answer_seconds: Annotated[float, typer.Option(min=0.1, help="Mean time that an annotator takes for an item.")] = 8,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Same seed: same answers and pauses.")] = 1,
    json_file: JsonFile = None,
    data_dir: Annotated[
        Path,
        typer.Option(
            "--data-dir", help="Folder of a suite that is made for this.", show_default=".stb-loadtest beside ./stb"
        ),
    ] = _DEFAULT_FOLDER,
) -> None:
    """Let simulated people and bots work on a suite made for this, and measure it; exit code 1 if a bound is missed.

    The bounds: no request fails, no process dies or hangs, and 99 of 100 requests of each kind stay below a time limit.
    The suite's data stay in its folder until ./stb purge --data-dir removes them.
    """
    check_output(json_file)
    plan = LoadPlan(
        seconds=60 * minutes,
        annotators=annotators,
        bots=bots,
        chats=chats,
        dashboards=dashboards,
        warm_up_seconds=warm_up,
        answer_seconds=answer_seconds,
        sample_seconds=min(5.0, 3 * minutes),
        seed=seed,
    )
    folder = folder_at(data_dir)
    folder.create()
    with folder.lock(), bootstrap(folder) as prepared, showing_progress() as steps:
        result = asyncio.run(run_load(folder, prepared, plan, steps))
    write_json(json_file, result.account)
    _show(result)
    for failure in result.failures:
        say(f"Failed: {failure}.")
    if result.failures:
        raise typer.Exit(1)


def _show(result: LoadResult) -> None:
    plan, console = result.plan, Console()
    requests = Table(
        "Request",
        *(Column(name, justify="right") for name in ("Count", "p50 ms", "p99 ms", "Longest ms", "Bound of p99")),
        title=f"{plan.annotators} simulated annotators, {plan.bots} bots, {plan.chats} chats, "
        f"{plan.dashboards} dashboards, {plan.seconds / 60:g} minutes",
    )
    for each in result.requests:
        bound = f"{each.bound}{'' if each.is_in_bounds else ' missed'}"
        requests.add_row(
            each.kind, f"{each.count:,}", f"{each.p50:.0f}", f"{each.p99:.0f}", f"{each.longest:.0f}", bound
        )
    memory = Table(
        "Process",
        *(Column(name, justify="right") for name in ("CPU s", "First MiB", "Last MiB")),
        title="Processor and memory",
    )
    for process in result.memory:
        seconds = f"{result.processor.get(process.name, 0):.0f}"
        memory.add_row(process.name, seconds, f"{process.first:.0f}", f"{process.last:.0f}")
    memory.add_row(LOAD, f"{result.processor[LOAD]:.0f}")
    console.print(requests)
    console.print(memory)
    faults = sum(result.faults.values())
    console.print(
        f"{result.labels:,} labels, {result.turns:,} turns of bots, {faults} faults, {result.restarts} restarts."
    )
