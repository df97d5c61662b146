"""Every command block of the docs is one that its reader can run.

The tutorials' blocks are run, and some commands of other pages after a tutorial (`test_tutorials.py`). Of all other
blocks, the command line understands each command, and the services have each address and query parameter. All else is
in `LEFT_OUT`, with the reason.
"""

import json
import re
import shlex
from functools import cache
from typing import Final

import pytest

from spotthebot.cli.command_table import COMMANDS
from spotthebot.cli.lazy import LISTS, CommandGroup, CommandTable, load_command
from tests.docs.following import PORTS, ROOT, commands_of

LEFT_OUT: Final = {
    r"export [A-Z_]+=|[A-Z]+=\$\(\./stb keys create": "sets a variable that other commands use",
    r"\.venv/bin/python docs/examples/": "the example's own test runs it",
    r"\.venv/bin/pip install|pip install": "needs a package index",
    r"\.venv/bin/python -m debugpy": "needs debugpy, which developers install for themselves",
    r'eval "\$\(\./stb env bots --secrets\)"': "prepares the debugger",
    r"printf %s p-17 \| openssl": "shows the signature that test_entry_links computes in Python",
    r"uvx |stb up|ssh-keygen |releaser@|\(cd dist|SOURCE_DATE_EPOCH=|sha256sum |git push": "tests/tools tries releases",
    r"git clone ADDRESS": "has the place of an address",
    r"npm |npx ": "the compiled example's own test runs it",
    r"python -m benchmarks\.": "runs for hours; tests/benchmarks runs each at toy size",
}
"""Commands that are neither run nor read, by a pattern, and why."""
PAGES: Final = [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "tutorials"] + [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
]
_REQUEST = re.compile(
    r"(?:(?P<method>GET|POST|PUT|PATCH|DELETE) +)?(?P<service>\S*?)(?P<path>/v1/[^\s\"'?]+)(?P<query>\?[^\s\"']+)?"
)
_VALUE = re.compile(r"\$\{?\w+\}?|\{\w+\}")


def _unlabelled() -> list[tuple[str, str]]:
    return [(str(page.relative_to(ROOT)), command) for page in PAGES for command in commands_of(page.read_text())]


def _fault(command: str) -> str | None:
    """Return what is wrong with a command of a page."""
    if any(re.match(pattern, command) for pattern in LEFT_OUT):
        return None
    named = re.sub(r"\$\([^)]*\)", "x", re.sub(r"^(?:[A-Z_0-9]+=\S+ )+", "", command))
    if named.startswith("./stb"):
        return _fault_of_stb(shlex.split(re.sub(r"\[(.*?)\]", r"\1", named))[1:])
    if "/v1/" in named and re.match(r"(GET|POST|PUT|PATCH|DELETE|curl|jq|URL=)", named):
        return _fault_of_request(named)
    return "is no command of ./stb and no request: label the block, or name it in LEFT_OUT"


def _fault_of_stb(words: list[str]) -> str | None:
    table: CommandTable = COMMANDS
    name, entry = "stb", None
    while entry is None or isinstance(entry, CommandGroup):
        table = table if entry is None else entry.commands
        if LISTS in table and (not words or words[0].startswith("-")):
            words = [LISTS, *words]
        name, *words = words
        if name.startswith("-"):
            return None  # such as ./stb --help
        if name not in table:
            return f"has no command {name}"
        entry = table[name]
    command = load_command(name, entry)
    try:
        command.make_context(name, words)
    except Exception as error:  # noqa: BLE001 - typer's own click
        said = getattr(error, "format_message", error.__str__)()
        return None if "does not exist" in said or type(error).__name__ == "Exit" else said
    return None


def _fault_of_request(command: str) -> str | None:
    match = _REQUEST.search(command)
    assert match is not None
    posts = "POST" if re.search(r" -d '| --data", command) else "GET"
    method = match["method"] or next(iter(re.findall(r"-X (\w+)", command)), posts)
    where = match["service"]
    services = [name for name, port in PORTS.items() if f":{port}" in where or f"${name.upper()}" in where]
    path = _VALUE.sub("{}", match["path"])
    found = [
        parameters
        for service in services or PORTS
        for (known, address), parameters in _requests(service).items()
        if known == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", address), path)
    ]
    if not found:
        return f"no service has {method} {path}"
    unknown = set(re.findall(r"[?&](\w+)=", match["query"] or "")).difference(*found)
    return f"{path} takes no {unknown}" if unknown else None


@cache
def _requests(service: str) -> dict[tuple[str, str], set[str]]:
    """Return the query parameters of each method and path of a service."""
    document = json.loads((ROOT / "openapi" / f"{service}.json").read_text())
    return {
        (method.upper(), path): {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }


def test_are_all_commands_that_their_reader_can_run():
    found = _unlabelled()
    assert len(found) > 200
    assert [(page, command, fault) for page, command in found if (fault := _fault(command))] == []


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("./stb collct file.yaml", "has no command collct"),
        ("./stb rank x --colour red", "No such option"),
        ("./stb campaigns show", "Missing argument"),
        ("curl $ANALYTICS/v1/campaigns/NAME/rankings", "no service has GET"),
        ("curl -X POST $BOTS/v1/campaigns", "no service has POST"),
        ('curl "$ANALYTICS/v1/campaigns/NAME/ranking?colour=red"', "takes no {'colour'}"),
        ("make coffee", "is no command"),
    ],
)
def test_a_faulty_one_would_be_noticed(command: str, fault: str):
    assert fault in (_fault(command) or "")


def test_the_list_of_those_left_out_has_no_entry_too_many():
    said = [command for _, command in _unlabelled()]
    assert [pattern for pattern in LEFT_OUT if not any(re.match(pattern, each) for each in said)] == []
