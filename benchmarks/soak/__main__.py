"""`python -m benchmarks.soak SOAK`: tables of what `./stb loadtest --json SOAK` found, and whether memory grows.

`--write` fills the README. Exit code 1 where the load test failed, or where the memory of a process grows.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.soak.growth import Growth, growth
from benchmarks.tables import markdown_table, write_table
from spotthebot.local.loadtest.record import LOAD

_REQUESTS = ("Request", "Count", "p50 ms", "p99 ms", "Longest ms", "Bound of p99 ms")
_PROCESSES = ("Process", "CPU s", "First MiB", "Last MiB", "MiB a minute, 95 % interval", "")


def main() -> None:
    """Print the tables of one soak, and end with 1 where something did not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak")
    parser.add_argument("soak", type=Path, help="file of ./stb loadtest --json, of this machine and day")
    parser.add_argument("--write", action="store_true", help="put the tables into the README")
    arguments = parser.parse_args()
    soak = json.loads(arguments.soak.read_text(encoding="utf-8"))
    failures = soak["failures"] + _growing(soak)
    tables = _tables(soak, failures)
    print(tables)  # noqa: T201 - the tables are the output
    if arguments.write:
        write_table(Path(__file__).with_name("README.md"), tables)
    sys.exit(1 if failures else 0)


def _growing(soak: dict[str, Any]) -> list[str]:
    grown = {each["name"]: _growth(each, soak["plan"]) for each in soak["memory"]}
    return [
        f"{name}: memory grows by {each.low:.2f} MiB a minute at least"
        for name, each in grown.items()
        if each.verdict == "grows"
    ]


def _growth(process: dict[str, Any], plan: dict[str, Any]) -> Growth:
    """Return how memory grew from the second third on, for caches fill in the first."""
    late = [(at, mib) for at, mib in process["samples"] if at >= plan["seconds"] / 180]
    return growth([at for at, _ in late], [mib for _, mib in late])


def _tables(soak: dict[str, Any], failures: list[str]) -> str:
    plan, seconds = soak["plan"], soak["processor"]
    note = (
        f"{plan['annotators']} simulated annotators, {plan['bots']} bots, {plan['chats']} chats, {plan['dashboards']} "
        f"dashboards, {plan['seconds'] / 60:g} minutes after a warm-up of {plan['warm_up_seconds']:g} s."
    )
    requests = markdown_table(_REQUESTS, [_request(each) for each in soak["requests"]], note=note)
    processes = [_process(each, soak) for each in soak["memory"]]
    _, _, memory = markdown_table(_PROCESSES, [*processes, (LOAD, f"{seconds[LOAD]:.0f}", *[""] * 4)]).partition("\n\n")
    faults = sum(soak["faults"].values())
    found = "; ".join(failures) or "nothing, exit code 0"
    summary = (
        f"{soak['labels']:,} labels, {soak['turns']:,} turns of bots, {faults} faults, {soak['restarts']} restarts. "
        f"What failed: {found}."
    )
    return f"{requests}\n\n{memory}\n\n{summary}"


def _request(found: dict[str, Any]) -> tuple[str, ...]:
    times = (f"{found[name]:,.0f}" for name in ("p50", "p99", "longest", "bound"))
    return (found["kind"], f"{found['count']:,}", *times)


def _process(found: dict[str, Any], soak: dict[str, Any]) -> tuple[str, ...]:
    slope = _growth(found, soak["plan"])
    interval = f"{slope.estimate:+.2f} [{slope.low:+.2f}, {slope.high:+.2f}]"
    sizes = (f"{found[name]:.0f}" for name in ("first", "last"))
    return (found["name"], f"{soak['processor'].get(found['name'], 0):.0f}", *sizes, interval, slope.verdict)


if __name__ == "__main__":
    main()
