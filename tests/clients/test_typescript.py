"""The TypeScript types of the APIs, compiled with the documented frontend, which then annotates on the real service."""

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from spotthebot.contracts.services import SERVICE_NAMES
from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import RunningSuite
from tools import ROOT
from tools.builds import run
from tools.typescript import make_types, npm_packages

COMPILER = ("--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom")
FAULTY = """
import createClient from "openapi-fetch";
import type { paths } from "spotthebot-types/annotation";
const annotation = createClient<paths>();
// @ts-expect-error - there is no such path
await annotation.POST("/v1/assignments/{assignment_id}/sumbit", { params: { path: { assignment_id: "1" } } });
const path = { campaign_id: "1" };
// @ts-expect-error - there is no such field
await annotation.POST("/v1/campaigns/{campaign_id}/assignments", { params: { path }, body: { anotator: "p" } });
// @ts-expect-error - an annotator is missing
await annotation.POST("/v1/campaigns/{campaign_id}/assignments", { params: { path }, body: {} });
const got = await annotation.GET("/v1/assignments/{assignment_id}", { params: { path: { assignment_id: "1" } } });
// @ts-expect-error - the answer has no such field
got.data?.code;
// @ts-expect-error - a problem has no such field
got.error?.message;
"""
"""Faults that the compiler has to find: a line that has none is an error."""

pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is missing")


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a frontend in which the types are installed, and all its programs compiled."""
    folder = tmp_path_factory.mktemp("frontend")
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "node_modules").mkdir()
    for package in npm_packages().iterdir():
        (folder / "node_modules" / package.name).symlink_to(package)
    run("tar", "-xzf", make_types(ROOT, folder, "1.0.0"), folder=folder)
    (folder / "package").rename(folder / "node_modules" / "spotthebot-types")
    every = [f'export type {{ paths as {name} }} from "spotthebot-types/{name}";' for name in SERVICE_NAMES]
    (folder / "every.ts").write_text("\n".join(every))
    (folder / "faulty.ts").write_text(FAULTY)
    shutil.copy(ROOT / "docs" / "examples" / "annotate.mts", folder)
    programs = ("every.ts", "faulty.ts", "annotate.mts")
    run("node", "node_modules/typescript/bin/tsc", *COMPILER, *programs, folder=folder)
    return folder


def _documented(file: str, command: str) -> list[str]:
    """Return the arguments that a document gives a command."""
    (line,) = re.findall(rf"npx {command} (.+)", (ROOT / "docs" / file).read_text())
    return line.split()


class TestTypes:
    async def test_fit_what_the_service_answers(self, project: Path, suite: RunningSuite):
        campaign = await campaign_of(suite)
        arguments = (suite.urls["annotation"], await suite.keys.make("annotation"), campaign["id"], "p-17")
        said = await asyncio.to_thread(run, "node", "annotate.mjs", *arguments, folder=project)
        assert "2 items, completion code " in said
        admin = await suite.client("annotation", "admin")
        assert (await admin.get(f"/v1/campaigns/{campaign['id']}")).json()["submitted"] == 1

    def test_are_made_without_the_package_as_the_page_says_in_an_empty_folder(self, tmp_path: Path):
        (tmp_path / "node_modules").symlink_to(npm_packages())
        source, *options = _documented("frontend.md", "openapi-typescript")
        assert source.endswith(":8103/openapi.json")
        cli = "node_modules/openapi-typescript/bin/cli.js"
        run("node", cli, ROOT / "openapi" / "annotation.json", *options, folder=tmp_path)
        example = (ROOT / "docs" / "examples" / "annotate.mts").read_text()
        (tmp_path / "annotate.mts").write_text(example.replace("spotthebot-types/annotation", "./annotation.js"))
        arguments = _documented("examples/annotate.mts", "tsc")
        run("node", "node_modules/typescript/bin/tsc", *arguments, folder=tmp_path)
        assert (tmp_path / "annotate.mjs").is_file()
