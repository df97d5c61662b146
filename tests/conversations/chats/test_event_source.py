"""A real browser follows a chat: a page of another origin, `EventSource` with the chat's token, and the end of it."""

import asyncio
import contextlib
import json
from typing import Any

import uvicorn
from playwright.async_api import Browser

from spotthebot.kit.processes.sockets import bind
from tests.factories.databases import DatabaseUrls
from tests.factories.frontends import open_chats, start, two_bots
from tests.factories.running_suite import run_suite, serve_all

PAGE = """<!doctype html><meta charset="utf-8"><script>
const {service, chat, token} = %s;
const report = {origin: location.origin, events: [], opened: 0};
const headers = {Authorization: `Bearer ${token}`, "Content-Type": "application/json"};
const events = new EventSource(`${service}/v1/chats/${chat}/events?token=${token}`);
function say(position) {
  fetch(`${service}/v1/chats/${chat}/turns`, {
    method: "POST", body: JSON.stringify({number: 1, text: `Turn ${position}\\u2028of a person.`}),
    headers: {...headers, "Idempotency-Key": `${chat}-1-${position}`},
  }).then(answer => { if (answer.status != 202) send({...report, refused: answer.status}); });
}
function send(found) { fetch("/report", {method: "POST", body: JSON.stringify(found)}); }
events.onopen = () => { report.opened += 1; };
for (const kind of ["turn", "typing", "failed", "next", "done"])
  events.addEventListener(kind, event => {
    const data = JSON.parse(event.data);
    report.events.push([Number(event.lastEventId), kind, data]);
    if (kind == "turn" && data.speaker == "partner" && data.position < 5) say(data.position + 1);
  });
events.onerror = () => { if (events.readyState == EventSource.CLOSED) send({...report, closed: true}); };
say(0);
</script>"""


class Pages:
    """A web server with one page, which takes the page's report."""

    def __init__(self) -> None:
        self.page = ""
        self.report: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        if scope["path"] == "/report" and not self.report.done():
            self.report.set_result(json.loads(body))
        content = self.page.encode() if scope["path"] == "/" else b""
        headers = [(b"content-type", b"text/html; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})


async def test_a_page_of_another_origin_chats_hears_every_event_once_and_stops(
    chromium: Browser, database_urls: DatabaseUrls
):
    with contextlib.closing(bind("127.0.0.1", 0)) as sock:
        origin = f"http://127.0.0.1:{sock.getsockname()[1]}"
        pages = Pages()
        config = uvicorn.Config(pages, log_config=None, lifespan="off", http="httptools", access_log=False)
        settings = {"cors_origins": (origin,)}
        async with (
            serve_all([(config, sock)]),
            run_suite(database_urls, only=("bots", "conversations"), conversations=settings) as suite,
        ):
            collection_id = await open_chats(
                suite, await two_bots(suite), bots_per_chat=1, minimum_turns=2, maximum_turns=6
            )
            chat = await start(suite, collection_id)
            frontend = await suite.client("conversations", "annotation")
            token = (await frontend.put(f"/v1/chats/{chat['id']}/token")).json()["token"]
            pages.page = PAGE % json.dumps({"service": suite.urls["conversations"], "chat": chat["id"], "token": token})
            async with await chromium.new_page() as page, asyncio.timeout(60):
                await page.goto(origin)
                report = await pages.report
            shown = (await frontend.get(f"/v1/chats/{chat['id']}")).json()
    assert "refused" not in report
    assert (report["origin"], report["closed"]) == (origin, True)
    assert [number for number, _, _ in report["events"]] == list(range(1, 11))  # three exchanges of three, and `done`
    assert [kind for _, kind, _ in report["events"]] == ["turn", "typing", "turn"] * 3 + ["done"]
    assert report["opened"] == 1  # the second connection was answered 204
    heard = [data["text"] for _, kind, data in report["events"] if kind == "turn"]
    assert heard == [turn["text"] for turn in shown["conversations"][0]["turns"]]
    assert heard[0] == "Turn 0\u2028of a person."
