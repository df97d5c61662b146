from tests.factories.running_suite import RunningSuite
from tests.factories.studies import DIALOGUES, add_corpus, created, keyed


class TestCorpora:
    async def test_a_batch_sent_again_changes_nothing(self, suite: RunningSuite):
        corpus = await add_corpus(suite)
        admin = await suite.client("conversations", "admin")
        path = f"/v1/corpora/{corpus}/dialogues"
        again = await created(admin, path, {"dialogues": keyed(DIALOGUES)})
        assert again == {"stored": 0, "already_there": 16}
        assert (await admin.get(f"/v1/corpora/{corpus}")).json()["dialogues"] == {"openings": 8, "train": 8}

    async def test_dialogues_come_in_the_order_of_upload_page_by_page(self, suite: RunningSuite):
        corpus = await add_corpus(suite)
        admin = await suite.client("conversations", "admin")
        keys: list[str] = []
        cursor = None
        while True:
            params: dict[str, str | int] = {"split": "train", "limit": 3}
            if cursor:
                params["cursor"] = cursor
            page = (await admin.get(f"/v1/corpora/{corpus}/dialogues", params=params)).json()
            keys += [item["key"] for item in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert keys == [f"train-d{number}" for number in range(8)]
