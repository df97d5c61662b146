"""The programs in the documentation of the Python client, run as they stand against real services."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import RunningSuite

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation")


class TestExample:
    async def test_prints_conversations_and_can_be_run_again(self, suite: RunningSuite):
        key = await suite.keys.make("admin")
        printed = [
            await _run("python_client.py", suite.urls["bots"], suite.urls["conversations"], key) for _ in range(2)
        ]
        assert "finished: 2 of 2 conversations" in printed[0]
        assert "eliza and dull" in printed[0]
        assert printed[0].count("  A: ") == 6
        assert "eliza is registered already." in printed[1]
        assert printed[1].split("\n\n")[1:] == printed[0].split("\n\n")[1:]

    def test_is_named_in_the_documentation(self):
        assert "docs/examples/python_client.py" in (ROOT / "docs" / "python-client.md").read_text()

    async def test_annotates_as_a_frontend(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        key = await suite.keys.make("annotation")
        printed = await _run("annotate.py", suite.urls["annotation"], key, campaign["id"], "p-17")
        assert "2 items, completion code " in printed
        admin = await suite.client("annotation", "admin")
        assert (await admin.get(f"/v1/campaigns/{campaign['id']}")).json()["submitted"] == 1


async def _run(example: str, *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable, EXAMPLES / example, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
    return output.decode()
