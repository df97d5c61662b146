from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations


class TestListCollections:
    async def test_lists_all_page_by_page_and_those_of_a_name(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        request = {"mode": "import", "domain": "everyday"}
        made = [(await created(admin, "/v1/collections", request | {"name": name}))["id"] for name in "aab"]
        first = (await admin.get("/v1/collections", params={"limit": 1})).json()
        rest = (await admin.get("/v1/collections", params={"cursor": first["next_cursor"]})).json()
        assert [each["id"] for each in first["items"] + rest["items"]] == made
        named = (await admin.get("/v1/collections", params={"name": "a"})).json()["items"]
        assert [each["id"] for each in named] == made[:2]


class TestAccess:
    async def test_frontends_read_no_conversation(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("c", "X", "Y")])
        frontend = await suite.client("conversations", "annotation")
        for path in (f"/v1/collections/{collection}/conversations", "/v1/collections", "/v1/corpora"):
            assert (await frontend.get(path)).status_code == 403
