"""Administrators see how a table of conversations is read, and then import it."""

import html
import io
import json
import re
import zipfile
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite

PAGE = "/admin/collections/table"
NAMED = {"name": "talks", "domain": "imported"}
TALKS = (
    "dialog_id,role,utterance\n"
    "c1,user,=1+1 <script>alert(1)</script>\n"
    "c1,alpha,Hello!\n"
    "c2,user,Bye\n"
    "c2,user,now\n"
    "c3,user,Hi\n"
    "c3,alpha,Hey\n"
)
"""Two conversations of two speakers (4 rows), and one of one speaker (2 rows)."""
DIALOGUE = {
    "dialog_id": "0x1",
    "dialog": [
        {"sender": "participant1", "sender_class": "Human", "text": "Hi"},
        {"sender": "participant2", "sender_class": "Bot", "text": "Hello"},
    ],
    "eval_score": 4,
}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "web")


async def _post(
    client: httpx.AsyncClient, content: str | bytes, do: str = "check", *, file: str = "talks.csv", **typed: str
) -> httpx.Response:
    return await client.post(PAGE, data=NAMED | {"do": do} | typed, files={"file": (file, content)})


def _facts(page: str) -> list[int]:
    """Return the numbers of rows, of conversations and of rejected rows."""
    return [int(found) for found in re.findall(r"<dd>(\d+)</dd>", page)]


def _counts(answer: httpx.Response) -> dict[str, str]:
    assert answer.status_code == 303, answer.text
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}


class TestTableImport:
    async def test_check_shows_what_is_read_and_stores_nothing(self, suite: RunningSuite, admin: httpx.AsyncClient):
        checked = await _post(admin, TALKS)
        assert (checked.status_code, _facts(checked.text)) == (200, [6, 2, 2])
        assert re.findall(r'<th scope="row"><code>(\w+)</code></th><td><bdi>(\w+)</bdi> <span', checked.text) == [
            ("conversation", "dialog_id"),
            ("speaker", "role"),
            ("text", "utterance"),
        ]
        assert "=1+1 &lt;script&gt;alert(1)&lt;/script&gt;" in checked.text
        assert "<script>alert" not in checked.text
        assert "conversation 'c2' must have two speakers, and has user" in html.unescape(checked.text)
        assert "<td>4</td>" in checked.text  # the line of c2's first row
        assert ">Import 2 conversations</button>" in checked.text
        assert "<noscript>" in checked.text  # says that the file has to be chosen again
        conversations = await suite.conversations("admin")
        assert (await conversations.list_collections().page()).items == []

    async def test_import_stores_once_and_leads_to_the_collection(self, suite: RunningSuite, admin: httpx.AsyncClient):
        for stored, known in (("2", "0"), ("0", "2")):
            done = await _post(admin, TALKS, "import")
            assert _counts(done) == {"stored": stored, "already_there": known, "rejected": "2"}
        shown = (await admin.get(done.headers["location"])).text
        assert "Import: 0 conversations stored, 2 there already; rejected rows: 2." in shown
        conversations = await suite.conversations("admin")
        (made,) = (await conversations.list_collections().page()).items
        assert (made.mode, made.name, made.domain, made.complete) == ("import", "talks", "imported", 2)
        texts = [each async for each in conversations.stream_texts(made.id)]
        assert {each.external_id for each in texts} == {"c1", "c3"}
        assert [turn.text for each in texts if each.external_id == "c1" for turn in each.turns] == [
            "=1+1 <script>alert(1)</script>",
            "Hello!",
        ]

    async def test_columns_people_and_roles_left_out_are_as_the_form_says(self, admin: httpx.AsyncClient):
        table = "a,b,c\nx,guest,Hi\nx,system,Be kind\nx,alpha,Hello\n"
        refused = await _post(admin, table)
        assert (refused.status_code, "has no column for" in refused.text) == (422, True)
        given = {"columns": "conversation=a,speaker=b,text=c", "people": "guest", "leave_out": "tool, system"}
        checked = await _post(admin, table, **given)
        assert _facts(checked.text) == [3, 1, 0]
        assert "A <bdi>HU</bdi>, B <bdi>alpha</bdi>" in checked.text
        assert f'value="{given["columns"]}"' in checked.text

    async def test_chats_with_bots_are_stored_with_their_ratings(self, suite: RunningSuite, admin: httpx.AsyncClient):
        file = json.dumps([DIALOGUE])
        assert "nothing in the file names its bot" in (await _post(admin, file, file="logs.json")).text
        done = await _post(admin, file, "import", file="logs.json", bots="beta")
        assert _counts(done) == {"stored": "1", "already_there": "0", "rejected": "0"}
        conversations = await suite.conversations("admin")
        (made,) = (await conversations.list_collections().page()).items
        (rated,) = [each async for each in conversations.list_chat_ratings(made.id)]
        assert rated.conversations[0].scores == {"eval_score": 4}

    async def test_nothing_is_stored_if_most_rows_are_rejected(self, suite: RunningSuite, admin: httpx.AsyncClient):
        """Of 50 rows the 26 of conversations with one speaker are rejected: more than half of at least ten."""
        rows = "".join(f"c{at},x,hi\nc{at},{'y' if at < 12 else 'x'},ho\n" for at in range(25))
        for do in ("check", "import"):
            refused = await _post(admin, f"conversation,speaker,text\n{rows}", do)
            assert (refused.status_code, _facts(refused.text)) == (422, [50, 12, 26])
            assert "More than half of the rows are rejected" in refused.text
            assert 'value="import"' not in refused.text
        few = await _post(admin, "conversation,speaker,text\nc1,x,hi\n", "import")
        assert (few.status_code, "No conversation can be read" in few.text) == (422, True)
        assert (await (await suite.conversations("admin")).list_collections().page()).items == []

    async def test_rejected_rows_are_listed_up_to_twenty(self, admin: httpx.AsyncClient):
        """25 of 105 rows have one cell too many."""
        good = "".join(f"c{at},{side},hi\n" for at in range(40) for side in "xy")
        bad = "".join(f"d{at},x,hi,more\n" for at in range(25))
        page = (await _post(admin, f"conversation,speaker,text\n{bad}{good}")).text
        assert (_facts(page), page.count("it has 4 cells"), "and 5 more" in page) == ([105, 40, 25], 20, True)

    async def test_faults_of_the_form_stand_by_their_fields_in_the_visitors_language(self, admin: httpx.AsyncClient):
        wrong = await _post(admin, TALKS, "import", name=" ")
        assert (wrong.status_code, 'id="name-fault"' in wrong.text) == (422, True)
        admin.cookies.set("language", "de")
        assert "Was die Datei enthält" in (await _post(admin, TALKS)).text

    async def test_is_for_administrators_on_this_site(self, suite: RunningSuite, admin: httpx.AsyncClient):
        async with signed_in(suite, "analyst") as analyst:
            assert [(await analyst.get(PAGE)).status_code, (await _post(analyst, TALKS)).status_code] == [403, 403]
        admin.headers["Sec-Fetch-Site"] = "cross-site"
        assert (await _post(admin, TALKS, "import")).status_code == 403


def _archive(**files: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_", "/").replace("json", ".json"), text)
    return made.getvalue()


HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "it is empty"),
    "NUL in a text": (b"conversation,speaker,text\nc1,x,a\0b\nc1,y,c\n", "No conversation can be read"),
    "a line of 4 MB": (
        b"conversation,speaker,text\nc1,x," + b"a" * 4_000_000 + b"\nc1,y,b\n",
        "it is not a row of CSV",
    ),
    "Latin-1": ("conversation,speaker,text\nc1,x,ä\nc1,y,b\n".encode("latin-1"), "not encoded in UTF-8"),
    "deep JSON": (b'[{"turns":' + b"[" * 1_000_000, "nested too deeply"),
    "a deep trace": (b'{"resourceSpans":' + b"[" * 1_000_000, "recursion"),
    "half a zip file": (_archive(headerjson="{}")[:-30], "table"),
    "an archive that unpacks to 17 MiB": (_archive(headerjson="{}", samples_1json="[" * 17 * 1024**2), "16 MiB"),
}


@pytest.mark.parametrize("fault", HOSTILE)
async def test_hostile_file_gets_a_sentence_and_nothing_is_stored(suite: RunningSuite, fault: str):
    content, said = HOSTILE[fault]
    async with signed_in(suite, "admin") as admin:
        answer = await _post(admin, content, "import", file="../../x\0.eval")
    assert (answer.status_code, said in html.unescape(answer.text)) == (422, True)
    assert (await (await suite.conversations("admin")).list_collections().page()).items == []


async def test_file_over_the_limit_is_refused(admin: httpx.AsyncClient):
    refused = await _post(admin, b"a" * (4 * 1024**2 + 128 * 1024))
    assert (refused.status_code, "Send less at once" in refused.text) == (413, True)
