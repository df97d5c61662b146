"""`stb test --mutants`: cosmic-ray changes the code in small ways, one at a time, and the nearest tests run on each.

Mutants are made in a copy of the clone, never in the clone. Places to mutate are drawn by a seed, one mutant for each.
"""

import hashlib
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spotthebot.kit.errors import Invalid, NotFound, Unavailable
from spotthebot.local.progress import screen, showing_progress
from tools.reaching_tests import ImportGraph

if TYPE_CHECKING:
    # It takes a third of a second, which other commands need not wait for.
    from cosmic_ray.work_db import WorkDB
    from cosmic_ray.work_item import WorkItem, WorkResult

_SOURCES: Final = ("services", "shared")
_IN_ANNOTATIONS: Final = "core/ReplaceBinaryOperator_BitOr_"
"""Operators of which nearly every place is `X | None`."""
_SECONDS_OF_TESTS: Final = 600.0


class NothingToMutate(NotFound):
    """There is no Python source to mutate in {room}: name a package or folder, such as analytics/stats or kit."""


class OtherMutants(Invalid):
    """{file} has mutants of another room, seed, count or state of the code: name another file, or remove it."""


class FailsWithoutMutant(Unavailable):
    """The tests fail without a mutant either, so they can tell nothing of mutants: {command} says {output}."""


def run_mutants(
    root: Path, room: str, *, seed: int, count: int, tests: Sequence[str] = (), session: Path | None = None
) -> float:
    """Run `count` mutants of a room, print those that survive as differences; return the share that was noticed.

    `tests` are given to pytest in place of the nearest test files. Cosmic-ray's `session` keeps results, from which a
    later call of the same room, seed and count goes on. Raises NothingToMutate, OtherMutants and FailsWithoutMutant.
    """
    from cosmic_ray.work_db import use_db  # noqa: PLC0415 - as above

    files = _sources_of(root, room)
    with _copied(root) as copy, chdir(copy), _own_modules(copy), tempfile.TemporaryDirectory() as folder:
        path = str(session.absolute()) if session else f"{folder}/session.sqlite"
        with use_db(path) as database:
            drawn = f"{room}/{seed}/{count}/{_sha256_of(root, files)}"
            _draw(database, files, drawn, seed=seed, count=count, named=session)
            commands = _Commands(ImportGraph(root), tests)
            with showing_progress() as steps, steps.step("Mutants", total=database.num_work_items) as step:
                step.at(database.num_results)
                for item in database.pending_work_items:
                    database.set_result(item.job_id, _run(item, commands))
                    step.advance()
            return _report(room, seed, [(item, result) for item, result in database.completed_work_items])


class _Commands:
    """The command that tests a module; that it passes without a mutant is seen once."""

    def __init__(self, graph: ImportGraph, tests: Sequence[str]) -> None:
        self._graph = graph
        self._tests = tests
        self._passed: set[str] = set()

    def of(self, file: str) -> str:
        """Return the command; raises FailsWithoutMutant."""
        words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command = shlex.join([*words, *(self._tests or self._graph.nearest(file))])
        if command not in self._passed:
            done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)  # noqa: S603 - our own
            if done.returncode:
                raise FailsWithoutMutant(command=command, output=done.stdout[-500:])
            self._passed.add(command)
        return command


def _run(item: "WorkItem", commands: _Commands) -> "WorkResult":
    from cosmic_ray.mutating import mutate_and_test  # noqa: PLC0415 - as above

    (mutation,) = item.mutations
    return mutate_and_test(item.mutations, commands.of(str(mutation.module_path)), _SECONDS_OF_TESTS)


def _draw(database: "WorkDB", files: Sequence[str], drawn: str, *, seed: int, count: int, named: Path | None) -> None:
    """Put one mutant of each of `count` places into a session, unless they are there; `drawn` tells it from others."""
    from cosmic_ray.commands.init import init  # noqa: PLC0415 - as above
    from cosmic_ray.work_item import WorkItem  # noqa: PLC0415 - as above

    prefix = hashlib.sha256(drawn.encode()).hexdigest()[:16]
    there = list(database.work_items)
    if there:
        if any(not item.job_id.startswith(prefix) for item in there):
            raise OtherMutants(file=named)
        return
    init([Path(file) for file in files], database, {})
    places = defaultdict(list)
    for item in database.work_items:
        (mutation,) = item.mutations
        if not mutation.operator_name.startswith(_IN_ANNOTATIONS):
            places[mutation.module_path, mutation.start_pos, mutation.end_pos].append(mutation)
    generator = random.Random(seed)  # noqa: S311 - reproducible draws, no secrets
    taken = generator.sample(sorted(places), min(count, len(places)))
    mutants = [generator.choice(sorted(places[place], key=lambda each: each.operator_name)) for place in taken]
    database.clear()
    database.add_work_items(WorkItem.single(f"{prefix}{number:08}", each) for number, each in enumerate(mutants))


def _report(room: str, seed: int, done: Sequence[tuple["WorkItem", "WorkResult"]]) -> float:
    survivors = [(item, result) for item, result in done if not result.is_killed]
    for item, result in survivors:
        (mutation,) = item.mutations
        screen.rule(f"{mutation.module_path}:{mutation.start_pos[0]}")
        screen.print(result.diff, markup=False, highlight=False)
    noticed = len(done) - len(survivors)
    share = noticed / len(done)
    screen.print(f"{room}, seed {seed}: {noticed} of {len(done)} mutants were noticed ({share:.0%}).")
    return share


def _sources_of(root: Path, room: str) -> list[str]:
    """Return the modules of a package, a folder or one module, but for migrations."""
    named = room.replace(".", "/") if "/" not in room and not room.endswith(".py") else room
    found = []
    for source in _SOURCES:
        for path in (root / source / "spotthebot" / named, root / source / "spotthebot" / f"{named}.py", root / named):
            found += [path] if path.is_file() else sorted(path.rglob("*.py"))
    kept = [path for path in dict.fromkeys(found) if path.suffix == ".py" and "migrations" not in path.parts]
    if not kept:
        raise NothingToMutate(room=room)
    return [str(path.relative_to(root)) for path in kept]


def _sha256_of(root: Path, files: Sequence[str]) -> str:
    return hashlib.sha256(b"".join((root / file).read_bytes() for file in files)).hexdigest()


@contextmanager
def _copied(root: Path) -> Iterator[Path]:
    """Copy what git knows or would add, and the data beside the clone that tests read, as links."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - git of the machine
        cwd=root,
        capture_output=True,
        check=True,
    )
    with tempfile.TemporaryDirectory(prefix="stb-mutants-") as folder:
        copy = Path(folder) / root.name
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (root / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / name, copy / name)
        if (data := root.parent / "shared").is_dir():
            (copy.parent / "shared").symlink_to(data)
        yield copy


@contextmanager
def _own_modules(copy: Path) -> Iterator[None]:
    """Let processes that are started import from the copy, whatever is installed.

    They keep no compiled files: of a mutant of the same length and second, Python would take the file without it.
    """
    own = {
        "PYTHONPATH": os.pathsep.join(str(copy / source) for source in (*_SOURCES, ".")),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
