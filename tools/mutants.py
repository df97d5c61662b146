"""`stb test --mutants`: changes the code in many small ways, one at a time, and reports which the tests do not notice.

A sample of all mutations of a folder is drawn by a seed. Each is made in a copy of the clone, never in the clone. The
tests that execute the mutated line run, those of quick files first, until one fails.
"""

import contextlib
import hashlib
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from spotthebot.kit.errors import Invalid, NotFound, Unavailable
from spotthebot.local.progress import screen, showing_progress
from tools.covering_tests import DependentLines, Recording, SourceLines, file_of
from tools.mutant_process import PRELOADED, CoverageRecorder, OnlyTests, run_pytest
from tools.mutations import Mutation, find_mutations
from tools.reaching_tests import ImportGraph

_TIMES_AS_LONG, _MORE_SECONDS = 4, 30
"""How long the tests of a mutant may take: so many times as long as without it, and this much for their start."""
_SECONDS_TO_END = 10
_NO_TESTS_RAN = 5
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([*PRELOADED])


class NothingToMutate(NotFound):
    """There is no Python source to mutate in {room}: name a package or folder, such as analytics/stats or kit."""


class OtherMutants(Invalid):
    """{file} has the results of another room, seed, count or state of the code: name another file, or remove it."""


class NoTestsRan(Unavailable):
    """The tests do not run without a mutant either, so they can tell nothing of mutants. Pytest said: {output}."""


class Outcome(StrEnum):
    """What became of a mutant: a test failed, none did, or they took too long, which is noticed as well."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMED_OUT = "timed out"


@dataclass(frozen=True)
class Sample:
    """`count` of all `available` mutations of a room, drawn by `seed`; `sha256` is of its sources."""

    room: str
    seed: int
    count: int
    available: int
    sha256: str
    mutations: tuple[Mutation, ...]

    @property
    def heading(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("room", "seed", "count", "available", "sha256")}


@dataclass(frozen=True)
class Result:
    """The outcome of one mutant; `test` is the first that failed, `covering` the number of tests that could fail."""

    place: str
    kind: str
    difference: str
    outcome: Outcome
    test: str | None
    covering: int
    seconds: float


def draw_sample(root: Path, room: str, *, seed: int, count: int) -> Sample:
    """Draw mutations of a room, a dotted package or a folder below `services/spotthebot` or `shared/spotthebot`."""
    sources = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in _files_of(root, room)}
    if not sources:
        raise NothingToMutate(room=room)
    everything = [mutation for file, source in sources.items() for mutation in find_mutations(file, source)]
    drawn = random.Random(seed)  # noqa: S311 - a sample, no secret
    drawn.shuffle(everything)
    valid = (each for each in everything if each.is_python(sources[each.file]))
    digest = hashlib.sha256("\x00".join(f"{file}\x00{text}" for file, text in sources.items()).encode()).hexdigest()
    chosen = tuple(each for each, _ in zip(valid, range(count), strict=False))
    return Sample(room, seed, count, len(everything), digest, chosen)


def run_mutants(root: Path, sample: Sample, *, tests: Sequence[str] = (), results_file: Path | None = None) -> None:
    """Run the tests on every mutant of the sample that has no result yet, and print the outcomes and their share.

    With paths `tests` the test files at or below them run, whatever they import.
    """
    results = read_results(results_file, sample)
    screen.print(
        f"{len(sample.mutations)} of {sample.available} mutants of {sample.room}, seed {sample.seed};"
        f" {len(results)} have a result already"
    )
    pending = [each for each in sample.mutations if name_of(each) not in results]
    with _copied(root) as clone, showing_progress() as progress:
        covering = find_covering_tests(clone, pending, tests) if pending else {}
        with progress.step("mutants", total=len(pending)) as step:
            for mutation in pending:
                result = _run_one(clone, mutation, covering[mutation])
                results[name_of(mutation)] = result
                _write_results(results_file, sample, results)
                step.advance()
                if result.outcome is Outcome.SURVIVED:
                    screen.print(f"{len(results)}/{len(sample.mutations)} survived: {result.place}", highlight=False)
    print_results([results[name_of(each)] for each in sample.mutations])


def print_results(results: Sequence[Result]) -> None:
    """Print the mutants that no test noticed, as differences, and the share of the others."""
    for result in results:
        if result.outcome is Outcome.SURVIVED:
            print(f"survived: {result.place} ({result.kind})\n{result.difference}\n")  # noqa: T201 - the result
    counts = Counter(result.outcome for result in results)
    noticed = counts[Outcome.KILLED] + counts[Outcome.TIMED_OUT]
    shown = ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome)
    print(f"{shown}: {noticed} of {len(results)} noticed ({noticed / (len(results) or 1):.1%})")  # noqa: T201 - the result


def name_of(mutation: Mutation) -> str:
    """Return the key of a mutation among the results."""
    return f"{mutation.file}:{mutation.start}-{mutation.end}:{mutation.text}"


def read_results(file: Path | None, sample: Sample) -> dict[str, Result]:
    """Return the results of an earlier run on the same sample; raises OtherMutants."""
    if file is None or not file.exists():
        return {}
    stored = json.loads(file.read_text(encoding="utf-8"))
    if {name: stored[name] for name in sample.heading} != sample.heading:
        raise OtherMutants(file=file)
    return {name: Result(**{**each, "outcome": Outcome(each["outcome"])}) for name, each in stored["mutants"].items()}


def _write_results(file: Path | None, sample: Sample, results: Mapping[str, Result]) -> None:
    if file is None:
        return
    counts = {outcome: sum(each.outcome is outcome for each in results.values()) for outcome in Outcome}
    mutants = {name: asdict(each) for name, each in results.items()}
    partial = file.with_name(f"{file.name}.partial")
    partial.write_text(json.dumps(sample.heading | counts | {"mutants": mutants}, indent=1) + "\n", encoding="utf-8")
    partial.replace(file)


def _files_of(root: Path, room: str) -> list[Path]:
    name = room.removeprefix("spotthebot.").replace(".py", "").replace(".", "/").strip("/")
    found: list[Path] = []
    for top in (root / "services" / "spotthebot", root / "shared" / "spotthebot"):
        module = top / f"{name}.py"
        found += [module] if module.is_file() else sorted((top / name).rglob("*.py"))
    return found


@contextlib.contextmanager
def _copied(root: Path) -> Iterator[Path]:
    """Copy what git knows of the clone, or would; `../shared`, which some tests read, is linked."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")  # noqa: S603 - git as the developer has it
    with tempfile.TemporaryDirectory(prefix="stb-mutants-") as folder:
        clone = Path(folder) / "clone"
        for file in files:
            if file and (root / file).is_file():
                (clone / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / file, clone / file)
        if (root.parent / "shared").is_dir():
            (clone.parent / "shared").symlink_to(root.parent / "shared")
        yield clone


def find_covering_tests(
    clone: Path, mutations: Sequence[Mutation], paths: Sequence[str]
) -> dict[Mutation, dict[str, float]]:
    """Return the tests that can notice each mutation, in the order to run them, and how long they take without it.

    For a line that runs on import the tests of the files are among them whose imports lead to it first, and of files
    among the `paths` to which no import leads: these ask running services.
    """
    graph, noticeable = ImportGraph(clone), DependentLines(clone)
    stages = {file: graph.stages(file) for file in {each.file for each in mutations}}
    lines = {each: noticeable.of(each) for each in mutations}
    reached = {file: {*nearest, *others} for file, (nearest, others) in stages.items()}
    named = {each for each in graph.tests if _is_below(each, paths)}
    files = named if paths else set[str]().union(*reached.values())
    recording = _record(clone, sorted(files), list(lines.values()))
    covering = {}
    for each in mutations:
        on_import = (*stages[each.file][0], *(named - reached[each.file])) if noticeable.runs_on_import(each) else ()
        found = recording.covering(lines[each], and_files=on_import)
        covering[each] = {test: recording.seconds[test] for test in found}
    return covering


def _is_below(file: str, paths: Sequence[str]) -> bool:
    return any(Path(file).is_relative_to(path) for path in paths)


def _record(clone: Path, test_files: Sequence[str], requested: Sequence[SourceLines]) -> Recording:
    """Run the tests once without a mutant; those that fail are left out, with a line."""
    if not test_files:
        raise NoTestsRan(output="no test file is at or below these paths")
    lines: defaultdict[str, set[int]] = defaultdict(set)
    for each in requested:
        for file, numbers in each.items():
            lines[file] |= numbers
    folder = clone.parent / "recording"
    started = time.monotonic()
    recorder = CoverageRecorder(clone, folder, {file: sorted(numbers) for file, numbers in lines.items()})
    _, output = _run_pytest(clone, ["--continue-on-collection-errors", *test_files], recorder)
    written = folder / "record.json"
    record = json.loads(written.read_text(encoding="utf-8")) if written.exists() else {}
    if not record.get("seconds"):
        raise NoTestsRan(output=output[-1000:])
    for test in record["failed"]:
        record["seconds"].pop(test, None)
        screen.print(f"left out, since it fails without a mutant: {test}", highlight=False)
    screen.print(f"{len(record['seconds'])} tests, {time.monotonic() - started:.0f} s without a mutant")
    executed = {
        file: {int(line): frozenset(by) for line, by in of_file.items()} for file, of_file in record["lines"].items()
    }
    return Recording(record["seconds"], executed)


def _run_one(clone: Path, mutation: Mutation, covering: Mapping[str, float]) -> Result:
    path = clone / mutation.file
    source = path.read_text(encoding="utf-8")
    started = time.monotonic()
    path.write_text(mutation.apply(source), encoding="utf-8")
    try:
        outcome, test = _run_tests(clone, covering)
    finally:
        path.write_text(source, encoding="utf-8")
    return Result(
        place=f"{mutation.file}:{mutation.line}",
        kind=mutation.kind,
        difference=mutation.difference(source),
        outcome=outcome,
        test=test,
        covering=len(covering),
        seconds=round(time.monotonic() - started, 1),
    )


def _run_tests(clone: Path, covering: Mapping[str, float]) -> tuple[Outcome, str | None]:
    """Run the tests that execute a mutant until one fails; a mutant without any survives."""
    if not covering:
        return Outcome.SURVIVED, None
    files = dict.fromkeys(file_of(test) for test in covering)
    limit = _MORE_SECONDS + _TIMES_AS_LONG * sum(covering.values())
    code, output = _run_pytest(clone, ["-x", *files], OnlyTests(list(covering)), seconds=limit)
    if code is None:
        return Outcome.TIMED_OUT, None
    if code in {0, _NO_TESTS_RAN}:
        return Outcome.SURVIVED, None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, flags=re.MULTILINE)
    return Outcome.KILLED, failed[1] if failed else None


def _run_pytest(
    clone: Path, arguments: Sequence[str], plugin: object, *, seconds: float | None = None
) -> tuple[int | None, str]:
    """Run pytest with a plugin in the copy; return its exit code, None where the time was up, and what it printed."""
    output = clone.parent / "output.txt"
    running = _FORKS.Process(target=run_pytest, args=(str(clone), list(arguments), str(output), plugin))
    running.start()
    try:
        running.join(seconds)
        code = running.exitcode
    finally:
        for number in (signal.SIGINT, signal.SIGKILL):  # the first lets fixtures end what they started
            if running.is_alive() and running.pid is not None:
                os.killpg(running.pid, number)
                running.join(_SECONDS_TO_END)
    return code, output.read_text(encoding="utf-8", errors="replace")
