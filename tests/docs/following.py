"""A reader who follows a page of the docs: writes its files, and runs its commands line by line in one folder."""

import asyncio
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from tests.factories.command_line import run_stb
from tests.factories.running_suite import RunningSuite

ROOT: Final = Path(__file__).parents[2]
PORTS: Final = {"bots": 8101, "conversations": 8102, "annotation": 8103, "analytics": 8104, "fed": 8105}
STARTS: Final = {"./stb up", "./stb up --allow-local-bots"}
"""These start the suite, which runs already."""
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"\$\(\./stb keys create --role (\w+)(?: --team (\w+))?\)")
_FILE = re.compile(r"# ([\w.-]+\.(?:yaml|py))\n")


@dataclass(frozen=True)
class Block:
    """A block of a page: the language behind its fence, and its text without the indent."""

    language: str
    text: str


def blocks(page: str) -> list[Block]:
    return [Block(match[2], re.sub(rf"(?m)^{match[1]}", "", match[3])) for match in _BLOCK.finditer(page)]


def commands(block: Block) -> list[str]:
    """Return the commands of a block without a language, each in one line, without comments and answers in JSON."""
    found: list[str] = []
    for line in block.text.replace("\\\n", " ").splitlines():
        if found and (found[-1].count("'") % 2 or found[-1].count("{") > found[-1].count("}")):
            found[-1] += f"\n{line}"
        elif line.strip() and line.lstrip()[0] not in "#{":
            found.append(re.sub(r"\s+#(?!\w*['\"]).*$", "", line).strip())
    return found


def commands_of(page: str) -> list[str]:
    """Return the commands of all blocks of a page without a language; `$URL` becomes the address that it names."""
    found: list[str] = []
    for block in blocks(page):
        named = re.search(r"(?m)^URL=(.+)$", block.text)
        text = block.text.replace("$URL", named[1]) if named else block.text
        found += [] if block.language else commands(Block("", text))
    return found


@dataclass
class Reader:
    """Follows pages. `said` has the standard output of each command, `noted` the standard error of each `./stb`."""

    suite: RunningSuite
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    replaced: Mapping[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    noted: dict[str, str] = field(default_factory=dict)
    processes: list[asyncio.subprocess.Process] = field(default_factory=list)

    async def follow(self, page: str, *, until: str | None = None, after: str | None = None) -> None:
        """Write files and run commands of a page of `docs/`, between two of its headings."""
        text = (ROOT / "docs" / page).read_text()
        text = text.partition(f"\n## {until}")[0] if until else text
        text = text.partition(f"\n## {after}")[2] if after else text
        assert "```" in text
        for block in blocks(text):
            if named := _FILE.match(block.text):
                (self.folder / named[1]).write_text(self._here(block.text))
            elif not block.language:
                for command in commands(block):
                    await self._run(command)

    async def run_each(self, page: str, beginning: str, **variables: str) -> None:
        """Run all commands of a page that begin so, with these variables; an HTTP request that is refused fails."""
        for name, value in variables.items():
            self.monkeypatch.setenv(name, value)
        found = [each for each in commands_of((ROOT / "docs" / page).read_text()) if each.startswith(beginning)]
        assert found, f"no command of {page} begins with {beginning}"
        for command in found:
            await self._run(re.sub(r"^curl (?!-sf )", "curl -sSf ", command))

    async def stop(self) -> None:
        for process in self.processes:
            process.terminate()
            await process.wait()

    def _here(self, text: str) -> str:
        """Return a text with the addresses of the suite that runs."""
        for name, port in PORTS.items():
            text = text.replace(f"http://127.0.0.1:{port}", self.suite.urls.get(name, "http://127.0.0.1:9"))
        for written, here in self.replaced.items():
            text = text.replace(written, here)
        return text

    async def _run(self, written: str) -> None:
        if written in STARTS:
            return
        command = self._here(written)
        for made in list(_KEY.finditer(command)):
            key = await self.suite.keys.make(made[1], team=made[2])
            command = command.replace(made[0], key)
        if assigned := re.fullmatch(r"(?:export )?(\w+=.*)", command, re.DOTALL):
            await self._set(assigned[1])
        elif command.startswith("./stb "):
            words = [os.path.expandvars(each) for each in shlex.split(command)[1:]]
            with self.monkeypatch.context() as changed:
                if words[0] == "annotate":  # on the suite's machine a command has both keys
                    changed.setenv("SPOTTHEBOT_KEY", await self.suite.keys.make("annotation"))
                done = await asyncio.to_thread(run_stb, *words)
            assert done.returncode == 0, f"{written}\n{done.stdout}\n{done.stderr}"
            self.said[written], self.noted[written] = done.stdout, done.stderr
        elif command.endswith(" &"):
            self.processes.append(await asyncio.create_subprocess_exec(*shlex.split(command)[:-1], cwd=self.folder))
        else:
            self.said[written] = await self._shell(command)

    async def _set(self, assignments: str) -> None:
        """Set variables as a shell does: `A=1 B=2`, or one whose value is the output of a command."""
        names = [assignments.partition("=")[0]] if "$(" in assignments else re.findall(r"(\w+)=", assignments)
        values = await self._shell(
            "; ".join([f"export {assignments}", *(f'printf "%s\\n" "${name}"' for name in names)])
        )
        for name, value in zip(names, values.splitlines(), strict=True):
            self.monkeypatch.setenv(name, value)

    async def _shell(self, command: str) -> str:
        run = await asyncio.create_subprocess_exec(
            "bash", "-c", command, cwd=self.folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await run.communicate()
        assert run.returncode == 0, f"{command}\n{out.decode()}\n{err.decode()}"
        return out.decode()
