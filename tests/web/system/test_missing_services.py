"""Pages show what they can where a service does not answer, and say which part is missing."""

import pytest

from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

ALL_BUT_FED = ("bots", "conversations", "annotation", "analytics", "web")


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ALL_BUT_FED


async def test_a_conversation_and_the_overview_are_read_while_fed_is_away(suite: RunningSuite):
    collection = await import_conversations(suite, [conversation("a", "one", "two")])
    admin = await suite.client("conversations", "admin")
    (held,) = (await admin.get(f"/v1/collections/{collection}/conversations")).json()["items"]
    visitor = await suite.client("web", "admin")
    assert (await visitor.post("/sign-in", data={"key": await suite.keys.make("admin")})).status_code == 303
    read = await visitor.get(f"/conversations/{collection}/{held['id']}", headers={"Accept": "text/html"})
    assert (read.status_code, "a says 3" in read.text) == (200, True)
    assert "The service of FED scores does not answer." in read.text
    overview = await visitor.get("/admin", headers={"Accept": "text/html"})
    visitor.cookies.clear()
    assert overview.status_code == 200
    assert "The service fed does not answer." in overview.text
    assert [overview.text.count(f">{state}</span>") for state in ("ready", "not ready")] == [4, 1]
