"""Who chatted in which conversation, as services read it: hashes that join nothing but one answer."""

import hashlib
import json

import pytest

from tests.factories.frontends import conversations_of, rated_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

PEOPLE = ("p-anna", "p-bert", "p-cleo")


class TestHashesOfInteractors:
    async def test_say_of_a_known_person_what_they_chatted_in_and_nothing_of_others(self, suite: RunningSuite):
        study = await rated_chats(suite, PEOPLE)
        service = await suite.client("conversations", "service")
        answers = [(await service.get(f"/v1/collections/{study}/interactors/stream")).text for _ in range(2)]
        first, second = ([json.loads(line) for line in answer.split("\n") if line] for answer in answers)
        held = await conversations_of(suite, study)
        salts = {each["salt"] for each in first}
        (salt,) = salts
        hashes = [hashlib.sha256(bytes.fromhex(salt) + person.encode()).hexdigest() for person in PEOPLE]
        assert {each["id"]: each["interactor_sha256"] for each in first} == dict(
            zip([each["id"] for each in held], hashes, strict=True)
        )
        assert not {each["interactor_sha256"] for each in second} & set(hashes)  # another salt

    async def test_differ_for_conversations_in_which_nobody_chatted(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation(f"c{n}", "HU", "X") for n in range(3)])
        service = await suite.client("conversations", "service")
        path = f"/v1/collections/{collection}/interactors/stream"
        found = [json.loads(line) for line in (await service.get(path)).text.split("\n") if line]
        assert len({each["interactor_sha256"] for each in found}) == 3

    @pytest.mark.parametrize("role", ["annotation", "analyst", "admin", "team"])
    async def test_are_for_services_alone(self, suite: RunningSuite, role: str):
        collection = await import_conversations(suite, [conversation("c", "X", "Y")])
        client = await suite.client("conversations", role, team="t" if role == "team" else None)
        assert (await client.get(f"/v1/collections/{collection}/interactors/stream")).status_code == 403
