"""Fixtures of tests of the command line, and of what imports files through it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from spotthebot.cli.campaigns.declaration_file import CampaignDeclared, read_declaration
from spotthebot.local.runtime.session import Clients
from tests.factories.declared_campaigns import Write
from tests.factories.dump_files import (
    ANNOTATIONS,
    CONVERSATIONS,
    PACKAGES,
    TALK_OF_HUMANS,
    annotation,
    conversation,
    lines,
    package,
)
from tests.factories.running_suite import RunningSuite


@asynccontextmanager
async def clients_of(suite: RunningSuite) -> AsyncIterator[Clients]:
    """Give the clients of an operator, whose annotators work with a key of their own."""
    admin, frontend = await suite.keys.make("admin"), await suite.keys.make("annotation")
    async with Clients(suite.urls, admin_key=admin, frontend_key=frontend) as opened:
        yield opened


@pytest.fixture
async def clients(suite: RunningSuite) -> AsyncIterator[Clients]:
    async with clients_of(suite) as opened:
        yield opened


@pytest.fixture
def declared(tmp_path: Path) -> Write:
    def write(text: str) -> CampaignDeclared:
        file = tmp_path / "campaign.yaml"
        file.write_text(text)
        return read_declaration(file)

    return write


@pytest.fixture
def write(tmp_path):
    """Write a dump of sound rows, some of its files replaced by other rows or by a text."""

    def write_dump(conversations=None, packages=None, annotations=None, folder=tmp_path / "dump"):
        folder.mkdir(parents=True, exist_ok=True)
        contents = {
            CONVERSATIONS: [conversation(), conversation(TALK_OF_HUMANS, ("human", "human"))]
            if conversations is None
            else conversations,
            PACKAGES: [package()] if packages is None else packages,
            ANNOTATIONS: [annotation()] if annotations is None else annotations,
        }
        for file, content in contents.items():
            text = content if isinstance(content, str | bytes) else lines(content)
            (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
        return folder

    return write_dump
