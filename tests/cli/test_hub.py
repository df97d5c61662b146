"""Conversations are pushed to a hub by huggingface_hub itself; the hub is a server on loopback with its public API."""

import base64
import io
import json
import zipfile
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from spotthebot.cli.collections.hub import push
from spotthebot.cli.errors import HubNotReached

pytest.importorskip("huggingface_hub")
FILES = {"README.md": b"---\nlicense: other\n---\n# demo", "data/conversations.parquet": b"PAR1...PAR1"}


class _Hub(ThreadingHTTPServer):
    """The answers that a push needs, and what was sent: the repository, the token and the committed files."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repository: dict[str, Any] = {}
        self.tokens: set[str | None] = set()
        self.files: dict[str, bytes] = {}
        self.nonsense = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, path: str, sent: bytes) -> dict[str, Any]:
        if self.nonsense:
            return {"hello": "world"}
        if path == "/api/repos/create":
            self.repository = json.loads(sent)
        if path.endswith("/preupload/main"):
            regular = {"uploadMode": "regular", "shouldIgnore": False}
            return {"files": [{"path": each["path"], **regular} for each in json.loads(sent)["files"]]}
        if path.endswith("/commit/main"):
            added = [each["value"] for each in map(json.loads, sent.splitlines()) if each["key"] == "file"]
            self.files |= {each["path"]: base64.b64decode(each["content"]) for each in added}
        url = f"{self.address}/datasets/lab/demo"
        return {"url": url, "errors": [], "warnings": [], "commitUrl": f"{url}/commit/1", "commitOid": "1"}


class _Handler(BaseHTTPRequestHandler):
    server: _Hub

    def do_POST(self) -> None:
        self.server.tokens.add(self.headers["authorization"])
        self._send(self.server.answer(self.path.split("?")[0], self.rfile.read(int(self.headers["content-length"]))))

    def do_GET(self) -> None:
        self._send({})

    def _send(self, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Hub]:
    server = _Hub()
    thread = Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.address)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


async def _archive() -> AsyncIterator[bytes]:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for name, content in FILES.items():
            file.writestr(name, content)
    for at in range(0, len(made.getvalue()), 100):
        yield made.getvalue()[at : at + 100]


class TestPush:
    async def test_files_of_the_data_set_are_committed_to_a_private_repository(self, hub: _Hub):
        assert await push(_archive(), "lab/demo", private=True) == f"{hub.address}/datasets/lab/demo"
        assert hub.repository == {"name": "demo", "organization": "lab", "type": "dataset", "visibility": "private"}
        assert (hub.files, hub.tokens) == (FILES, {"Bearer hf_secret"})

    async def test_faults_are_one_sentence(self, hub: _Hub):
        with pytest.raises(HubNotReached, match="not pushed to lab demo: write OWNER/NAME"):
            await push(_archive(), "lab demo", private=True)
        hub.nonsense = True
        with pytest.raises(HubNotReached, match="does not answer as a hub does"):
            await push(_archive(), "lab/demo", private=True)
        hub.shutdown()
        hub.server_close()
        with pytest.raises(HubNotReached, match="refused"):
            await push(_archive(), "lab/demo", private=True)
        assert hub.files == {}
