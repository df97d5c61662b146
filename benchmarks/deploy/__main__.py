"""`python -m benchmarks.deploy SOAK`: tables of what `./stb loadtest --json SOAK` found; `--write` fills the README."""

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.tables import markdown_table, write_table
from spotthebot.suite.loadtest.processor import LOAD

_REQUESTS = ("Request", "Count", "p50 ms", "p99 ms", "Longest ms", "Bound of p99 ms")
_PROCESSES = ("Process", "CPU s", "First MiB", "Last MiB", "MiB a minute, 95 % interval", "")


def main() -> None:
    """Print the tables of one soak."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deploy")
    parser.add_argument("soak", type=Path, help="file of ./stb loadtest --json, of this machine and day")
    parser.add_argument("--write", action="store_true", help="put the tables into the README")
    arguments = parser.parse_args()
    tables = _tables(json.loads(arguments.soak.read_text(encoding="utf-8")))
    print(tables)  # noqa: T201 - the tables are the output
    if arguments.write:
        write_table(Path(__file__).with_name("README.md"), tables)


def _tables(soak: dict[str, Any]) -> str:
    plan, seconds = soak["plan"], soak["processor"]
    note = (
        f"{plan['annotators']} simulated annotators, {plan['bots']} bots, {plan['chats']} chats, {plan['dashboards']} "
        f"dashboards, {plan['seconds'] / 60:g} minutes after a warm-up of {plan['warm_up_seconds']:g} s."
    )
    requests = markdown_table(_REQUESTS, [_request(each) for each in soak["requests"]], note=note)
    processes = [_process(each, seconds) for each in soak["memory"]]
    _, _, memory = markdown_table(_PROCESSES, [*processes, (LOAD, f"{seconds[LOAD]:.0f}", *[""] * 4)]).partition("\n\n")
    faults = sum(soak["faults"].values())
    found = "; ".join(soak["failures"]) or "nothing, exit code 0"
    summary = (
        f"{soak['labels']:,} labels, {soak['turns']:,} turns of bots, {faults} faults, {soak['restarts']} restarts. "
        f"What failed: {found}."
    )
    return f"{requests}\n\n{memory}\n\n{summary}"


def _request(found: dict[str, Any]) -> tuple[str, ...]:
    times = (f"{found[name]:,.0f}" for name in ("p50", "p99", "longest", "bound"))
    return (found["kind"], f"{found['count']:,}", *times)


def _process(found: dict[str, Any], seconds: dict[str, float]) -> tuple[str, ...]:
    slope = found["growth"]
    interval = f"{slope['estimate']:+.2f} [{slope['low']:+.2f}, {slope['high']:+.2f}]"
    sizes = (f"{found[name]:.0f}" for name in ("first", "last"))
    return (found["name"], f"{seconds.get(found['name'], 0):.0f}", *sizes, interval, found["verdict"])


if __name__ == "__main__":
    main()
