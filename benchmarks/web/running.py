"""A suite with the demonstration's data, as `./stb demo` makes it, and a browser that looks at its pages."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from spotthebot.contracts.services import SERVICES, get_service
from tests.factories.command_line import run_stb

_PORT_BASE = 9700
_START_SECONDS = 120


@dataclass(frozen=True)
class DemoSuite:
    """The running suite: where its pages are, a key for each role of people, the demonstration's ids."""

    pages_url: str
    bots_url: str
    conversations_url: str
    annotation_url: str
    keys: dict[str, str]
    campaign_id: str
    collection_id: str


@contextmanager
def demo_suite() -> Iterator[DemoSuite]:
    """Run the demonstration in a folder of its own, and the suite while the block lasts."""
    with tempfile.TemporaryDirectory(prefix="stb-pages-") as folder:
        _stb("demo", "--data-dir", folder)
        log = Path(folder) / "up.log"
        with log.open("wb") as output:
            command = [sys.executable, "-m", "spotthebot.cli", "up", "--data-dir", folder]
            suite = subprocess.Popen(  # noqa: S603 - our own program
                [*command, "--port-base", str(_PORT_BASE)], stdout=output, stderr=subprocess.STDOUT
            )
        try:
            _wait_until_ready(f"http://127.0.0.1:{get_service('web').port_after(_PORT_BASE)}/readyz", suite, log)
            yield demonstrated(folder, _PORT_BASE)
        finally:
            suite.terminate()
            suite.wait()


def demonstrated(folder: str, port_base: int) -> DemoSuite:
    """Return a suite that runs on a data folder with the demonstration's data, with new keys for it."""
    urls = {each.name: f"http://127.0.0.1:{each.port_after(port_base)}" for each in SERVICES}
    campaign = json.loads(_stb("campaigns", "show", "demo", "--json", "--data-dir", folder))
    return DemoSuite(
        pages_url=urls["web"],
        bots_url=urls["bots"],
        conversations_url=urls["conversations"],
        annotation_url=urls["annotation"],
        keys={
            "admin": _key(folder, "--role", "admin"),
            "analyst": _key(folder, "--role", "analyst"),
            "team": _key(folder, "--role", "team", "--team", "demo"),
        },
        campaign_id=campaign["id"],
        collection_id=campaign["collections"][0],
    )


def _stb(*arguments: str) -> str:
    done = run_stb(*arguments)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def _key(folder: str, *arguments: str) -> str:
    made = json.loads(_stb("keys", "create", *arguments, "--json", "--data-dir", folder))
    return str(made["key"])


def _wait_until_ready(url: str, suite: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + _START_SECONDS
    while time.monotonic() < ends and suite.poll() is None:
        try:
            if httpx.get(url, trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    message = f"the suite did not start: {log.read_text()[-1000:]}"
    raise RuntimeError(message)
