"""What programs read first: `llms.txt` and `llms-full.txt`, made from documents and served by the pages."""

import json
import re
from pathlib import Path

import httpx
import pytest
from pydantic import BaseModel

from spotthebot.contracts.annotation.campaigns import CampaignIn
from spotthebot.contracts.bots.registry import BotIn
from spotthebot.contracts.conversations.collections import AllPlayAllIn
from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.local.runtime.services import load_service
from tests.architecture.documents import committed_document
from tests.factories.routes import make_app
from tools import ROOT
from tools.llms import FOLDER, llms_full_text, llms_text

TEXTS = {"llms.txt": llms_text, "llms-full.txt": llms_full_text}
EVERY = pytest.mark.parametrize("name", TEXTS)


@EVERY
class TestTexts:
    def test_are_those_of_the_documents(self, name: str):
        assert (ROOT / FOLDER / name).read_text() == TEXTS[name](ROOT), "renew it: ./stb docs"

    async def test_are_read_by_everybody(self, name: str):
        transport = httpx.ASGITransport(make_app(load_service("web")))
        async with httpx.AsyncClient(transport=transport, base_url="http://web") as client:
            answer = await client.get(f"/{name}")
            assert answer.text == (ROOT / FOLDER / name).read_text()
            assert answer.headers["content-type"] == "text/plain; charset=utf-8"
            assert (await client.get(f"/{name}", headers={"If-None-Match": answer.headers["etag"]})).status_code == 304


class TestPages:
    @pytest.fixture
    def moved(self, tmp_path: Path) -> Path:
        """A tree whose pages lie elsewhere than ours."""
        for path, text in {
            "docs/index.md": "# Start\n\nRead *this* [first](x.md). Then more.\n",
            "docs/how-to/rank.md": "# Rank bots\n\n```\n./stb rank\n```\n\nAs Deriu et al. (2020) do: by labels.\n",
            "docs/decisions/0001.md": "# One\n\nWhy.\n",
        }.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        for name in SERVICE_NAMES:
            (tmp_path / "openapi").mkdir(exist_ok=True)
            (tmp_path / "openapi" / f"{name}.json").write_text('{"paths": {}}')
        return tmp_path

    def test_are_listed_by_folder_with_their_first_sentence(self, moved: Path):
        _, docs, how_to, _, optional = llms_text(moved).split("\n## ")
        assert docs == "Docs\n\n- [Start](docs/index.md): Read *this* first.\n"
        assert how_to == "How to\n\n- [Rank bots](docs/how-to/rank.md): As Deriu et al. (2020) do: by labels.\n"
        assert optional == "Optional\n\n- [One](docs/decisions/0001.md): Why.\n"

    def test_are_whole_in_the_full_text_but_for_optional_ones(self, moved: Path):
        text = llms_full_text(moved)
        assert "<!-- docs/how-to/rank.md -->\n\n# Rank bots\n" in text
        assert "Why." not in text


class TestHead:
    HEAD = (ROOT / "tools" / "llms.md").read_text()

    def test_has_requests_that_the_services_accept(self):
        """Each body is read by the contract of its endpoint."""
        bodies = [json.loads(each) for each in re.findall(r"`(\{\"(?:name|mode)\": .*?\})`", self.HEAD)]
        contracts: tuple[type[BaseModel], ...] = (BotIn, AllPlayAllIn, CampaignIn)
        for body, contract in zip(bodies, contracts, strict=True):
            ids = json.dumps(body).replace("OTHER_BOT", f"{1:032x}")
            ids = re.sub(r'"(BOT|COLLECTION)"', f'"{2:032x}"', ids)
            assert contract.model_validate_json(ids)

    def test_names_operations_that_exist(self):
        named = re.findall(r"`(GET|POST|PUT) (/v1/[^`]+)`", self.HEAD)
        assert len(named) >= 9
        known = {
            (method.upper(), re.sub(r"\{\w+\}", "{}", path))
            for service in SERVICE_NAMES
            for path, methods in committed_document(service)["paths"].items()
            for method in methods
        }
        assert {(method, re.sub(r"\{\w+\}", "{}", path)) for method, path in named} - known == set()
