"""Administrators upload a training as a file, and read what is stored or what is wrong with it."""

import json

import httpx
import pytest

from tests.factories.annotator_trainings import training

HOSTILE = "<script>x</script>"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


class TestTrainings:
    async def test_are_stored_from_a_file_and_shown_as_text(self, admin: httpx.AsyncClient):
        document = training(name="hostile", title=HOSTILE)
        for content in (document, {"training": document}):  # the same file again changes nothing
            stored = await admin.post("/admin/trainings", files={"file": ("t.json", json.dumps(content))})
            assert stored.headers["location"] == "/admin/trainings/hostile/1"
        shown = await admin.get("/admin/trainings/hostile/1")
        assert (HOSTILE in shown.text, "&lt;script&gt;" in shown.text) == (False, True)
        assert "&lt;script&gt;" in (await admin.get("/admin/trainings")).text

    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            (b"", "This is not JSON"),
            (b"[1", "This is not JSON"),
            (b"[" * 100, "nested 32 deep"),
            (b"[]", "must be an object"),
            (json.dumps(training(allowed_mistakes=-1)).encode(), "<code>/allowed_mistakes</code>: must be at least 0"),
            (json.dumps(training(questions=["no_such"])).encode(), "<code>/questions/0</code>"),
            (json.dumps(training(protocol="no_such")).encode(), "There is no protocol"),
        ],
    )
    async def test_files_that_cannot_be_stored_are_explained_by_their_places(
        self, admin: httpx.AsyncClient, content: bytes, fault: str
    ):
        answer = await admin.post("/admin/trainings", files={"file": ("t.json", content)})
        assert (answer.status_code, "Nothing was stored" in answer.text) == (422, True)
        assert fault in answer.text
