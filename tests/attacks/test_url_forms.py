"""URLs and names that are none: each is refused with a pointer to its field, wherever one is taken."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest

from tests.attacks.hostile_names import HostileNetwork, hostile_network
from tests.factories.bot_servers import webhook
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

URLS = [
    *(
        "http://a..b/",
        "http://.a/",
        "http://a../",
        "http://..",
        "http://a.b..:80/",
        "http://.",
        "http://-a.example.org/",
    ),
    *("http://a-.example.org/", f"http://{'a' * 64}.org/", f"http://{'a.' * 130}org/", f"http://{'1.' * 130}1/"),
    *(
        "http://a:0/",
        "http://a:65536/",
        "http://a:99999/",
        "http://a:-1/",
        "http://a:1e3/",
        "http://a:/",
        "http://a:b/",
    ),
    *(
        "http://[::1/",
        "http://::1/",
        "http://[::g]/",
        "http://[]/",
        "http://[1.2.3.4]/",
        "http://[::1]x/",
        "http://[::1%250]/",
    ),
    *("http://256.1.1.1/", "http://1.2.3/", "http://1.2.3.4.5/", "http://0x1/", "http://a.0x1/", "http://a.1/"),
    *("http://%00/", "http://a%00b/", "http://a%2eb/", "http://a\x00b/", "http://a b/", "http://a\tb/", "http://a\nb/"),
    *("http://ä.example.org/", "http://\u2024/", "http://a\u3002b/", "http://xn--\x00/", "http://\U0001f600.org/"),
    *(
        "http://user@a/",
        "http://user:word@a/",
        "http://a/#b",
        "http:///a",
        "http:/a",
        "http:a",
        "//a",
        "a",
        "http://",
        "",
    ),
    *(
        "ftp://a/",
        "file:///etc/passwd",
        "gopher://a/",
        "javascript:alert(1)",
        "unix:/var/run/docker.sock",
        "HTTP:// a/",
    ),
    *(
        "http://a\\b/",
        "http://a|b/",
        "http://a<b>/",
        'http://a"b/',
        "http://a'b/",
        "http://a,b/",
        "http://a;b/",
        "http://*/",
    ),
    f"http://a/{'b' * 3000}",
]
NAMES = ["a\x00b", "\x00", "gpt\x00../../etc/passwd"]
FIELDS: dict[str, tuple[str, dict[str, Any]]] = {
    "webhook": ("/protocol/url", {"kind": "webhook"}),
    "openai": ("/protocol/base_url", {"kind": "openai", "model": "m"}),
    "parlai": ("/protocol/url", {"kind": "parlai"}),
    "parlai's websocket": ("/protocol/url", {"kind": "parlai", "service": "websocket_chat"}),
    "triton": ("/protocol/url", {"kind": "triton", "model": "m"}),
}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations")


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch, suite: RunningSuite) -> Iterator[HostileNetwork]:
    with hostile_network(monkeypatch) as made:
        made.open_to |= {("127.0.0.1", httpx.URL(url).port or 80) for url in suite.urls.values()}
        yield made


def _points_at(answer: httpx.Response, pointer: str) -> bool:
    return answer.status_code == 422 and pointer in {fault["pointer"] for fault in answer.json()["errors"]}


class TestUrls:
    @pytest.mark.parametrize("kind", FIELDS)
    async def test_bots_get_a_pointer_to_an_unusable_url(self, suite: RunningSuite, network: HostileNetwork, kind: str):
        """Fields of web and of socket addresses have one type each: one field gets all URLs, the others a quarter."""
        pointer, fields = FIELDS[kind]
        some = URLS if kind in {"webhook", "parlai's websocket"} else URLS[[*FIELDS].index(kind) :: 4]
        admin = await suite.client("bots", "admin")
        eliza = webhook("") | {"name": "eliza", "protocol": {"kind": "builtin", "model": "eliza"}}
        versions = f"/v1/bots/{(await created(admin, '/v1/bots', eliza))['id']}/versions"
        for at, url in enumerate(some):
            for form in [url, url.replace("http://", "ws://")] if kind.startswith("parlai") else [url]:
                protocol = fields | {pointer.rpartition("/")[2]: form}
                answer = await admin.post("/v1/bots", json=webhook("") | {"protocol": protocol})
                assert _points_at(answer, pointer), (form, answer.status_code, answer.text)
                if at % 4 == 0:
                    answer = await admin.post(versions, json={"protocol": protocol})
                    assert _points_at(answer, pointer), (form, answer.status_code, answer.text)
        assert network.dialled == []

    async def test_subscribers_get_a_pointer_to_an_unusable_url(self, suite: RunningSuite, network: HostileNetwork):
        admin = await suite.client("conversations", "admin")
        network.answers["lab.example.org"] = [["93.184.215.14"]]
        subscription = {"url": "http://lab.example.org/", "events": ["collection.finished"]}
        made = await created(admin, "/v1/subscriptions", subscription)
        for url in URLS:
            answer = await admin.post("/v1/subscriptions", json=subscription | {"url": url})
            assert _points_at(answer, "/url"), (url, answer.status_code, answer.text)
        for url in URLS[::4]:
            answer = await admin.patch(f"/v1/subscriptions/{made['id']}", json={"url": url})
            assert _points_at(answer, "/url"), (url, answer.status_code, answer.text)
        assert network.dialled == []


class TestModelNames:
    @pytest.mark.parametrize("name", NAMES)
    async def test_with_nul_are_refused_with_a_pointer(self, suite: RunningSuite, name: str):
        admin = await suite.client("bots", "admin")
        for protocol, field in (
            ({"kind": "openai", "base_url": "http://bot.example.org/", "model": name}, "model"),
            ({"kind": "triton", "model": name}, "model"),
            ({"kind": "transformers", "model": name}, "model"),
            ({"kind": "transformers", "model": "gpt", "revision": name}, "revision"),
        ):
            answer = await admin.post("/v1/bots", json=webhook("") | {"protocol": protocol})
            assert _points_at(answer, f"/protocol/{field}"), (protocol, answer.status_code, answer.text)
        for model, field in (({"name": name}, "name"), ({"name": "a", "directory": name}, "directory")):
            answer = await admin.post("/v1/hosted-models", json=model | {"backend": "worker"})
            assert _points_at(answer, f"/{field}"), (model, answer.status_code, answer.text)

    async def test_with_nul_in_a_path_are_refused_by_their_parameter(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        for method, path in (
            ("GET", "/v1/hosted-models/a%00b"),
            ("DELETE", "/v1/hosted-models/a%00b"),
            ("POST", "/v1/hosted-models/a%00b/load"),
            ("POST", "/v1/hosted-models/a%00b/unload"),
            ("PUT", "/v1/hosted-models/a%00b/files/config.json"),
            ("PUT", "/v1/hosted-models/a/files/a%00b.json"),
            ("GET", "/v1/bots?name=a%00b"),
        ):
            answer = await admin.request(method, path)
            assert answer.status_code == 422, (path, answer.status_code, answer.text)
            assert {fault["parameter"] for fault in answer.json()["errors"]} <= {"name", "file"}

    async def test_with_nul_are_refused_by_openais_api(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        messages = [{"role": "user", "content": "Hello!"}]
        answer = await admin.post("/openai/v1/chat/completions", json={"model": "a\x00b", "messages": messages})
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "model")
        answer = await admin.get("/openai/v1/models/a%00b")
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "model")

    async def test_long_and_unknown_names_are_no_trouble_of_ours(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        for name in ("a" * 5000, str(uuid4()), "../../etc", "%2e%2e%2f", "☃"):
            for path in ("/v1/hosted-models/", "/openai/v1/models/"):
                answer = await admin.get(path + quote(name, safe=""))
                assert 400 <= answer.status_code < 500, (path, name, answer.text)
