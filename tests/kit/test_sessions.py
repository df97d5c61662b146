import httpx

from tests.kit.conftest import Edge


class TestTheOrder:
    """The commit comes before the response: a caller that reads 201 can rely on it."""

    async def test_a_commit_that_fails_is_not_answered_as_done(self, edge: Edge, admin: httpx.AsyncClient):
        first = await admin.post("/things", json={"name": "one", "twin": "x"})
        second = await admin.post("/things", json={"name": "two", "twin": "x"})  # the constraint is checked at commit
        assert (first.status_code, second.status_code) == (201, 500)
        assert second.headers["content-type"] == "application/problem+json"
        assert edge.rows() == 1

    async def test_the_row_is_there_when_the_answer_is(self, edge: Edge, admin: httpx.AsyncClient):
        assert (await admin.post("/things", json={"name": "slow"})).status_code == 201
        assert edge.rows() == 1


class TestFastapisDefault:
    """Without `scope="function"` both promises break: shows that the tests above can fail."""

    async def test_a_commit_that_fails_is_answered_as_done(self, admin: httpx.AsyncClient):
        await admin.post("/things", json={"name": "one", "twin": "x"})
        assert (await admin.post("/things/late", json={"name": "two", "twin": "x"})).status_code == 201

    async def test_the_row_is_not_there_when_the_answer_is(self, edge: Edge, admin: httpx.AsyncClient):
        assert (await admin.post("/things/late", json={"name": "slow"})).status_code == 201
        assert edge.rows() == 0


class TestWriting:
    async def test_raising_rolls_back(self, edge: Edge, admin: httpx.AsyncClient):
        assert (await admin.post("/things/raising", json={"name": "one"})).status_code == 409
        assert edge.rows() == 0

    async def test_a_read_session_cannot_write(self, edge: Edge, admin: httpx.AsyncClient):
        assert (await admin.post("/things/while-reading", json={"name": "one"})).status_code == 500
        assert edge.rows() == 0
