import asyncio
from typing import Any

import pytest

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.annotation.trainings import Training, TrainingIn
from tests.factories.annotator_trainings import RIGHT, gold_dialogue, gold_pair, training, training_of_pairs
from tests.factories.running_suite import RunningSuite

PATH = "/v1/trainings"


def _problem(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("urn:spotthebot:problem:")


class TestCreateTraining:
    async def test_answers_the_same_document_the_same_and_refuses_another(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        bodies = [{"training": training(title=f"Title {number % 2}")} for number in range(6)]
        answers = await asyncio.gather(*(admin.post(PATH, json=body) for body in bodies))
        created = [each.json() for each in answers if each.status_code == 201]
        assert len(created) == 3
        assert all(each == created[0] for each in created)
        assert {_problem(each) for each in answers if each.status_code != 201} == {(409, "training-version-stored")}
        assert (await admin.get(f"{PATH}/first_steps/versions/1")).json() == created[0]
        assert _problem(await admin.get(f"{PATH}/first_steps/versions/2")) == (404, "no-such-training")

    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            (training(dialogues=[]), "/training/dialogues"),
            (training(dialogues=[gold_dialogue("x", gold={})]), "/training/dialogues/0/gold/entity/A"),
            (training(dialogues=[gold_dialogue("x", explanations={"C": "?"})]), "/training/dialogues/0/explanations/C"),
            (training(allowed_mistakes=-1), "/training/allowed_mistakes"),
            (training(title=""), "/training/title"),
            (
                training_of_pairs(dialogues=[gold_pair("x", right_turns=[{"speaker": "A", "text": "a\0b"}])]),
                "/training/dialogues/0/right_turns/0/text",
            ),
            (training_of_pairs(dialogues=[gold_pair("x", right_turns=[])]), "/training/dialogues/0/right_turns"),
            (training(questions=[]), "/training/questions"),
            ({}, "/training/format"),
        ],
    )
    async def test_names_the_field_of_a_fault(self, suite: RunningSuite, body: dict[str, Any], pointer: str):
        admin = await suite.client("annotation", "admin")
        answer = await admin.post(PATH, json={"training": body})
        assert answer.status_code == 422
        assert pointer in {fault["pointer"] for fault in answer.json()["errors"]}

    async def test_refuses_text_that_cannot_be_stored(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        answer = await admin.post(PATH, json={"training": training(title="<b>\0</b>")})
        assert answer.status_code == 422

    async def test_refuses_a_protocol_that_is_not_there_and_what_is_too_large(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        answer = await admin.post(PATH, json={"training": training(protocol_version=9)})
        assert _problem(answer) == (422, "unknown-protocol")
        large = training(
            dialogues=[gold_dialogue("x" * 19_000, exchanges=100), gold_dialogue("y" * 19_000, exchanges=100)]
        )
        assert (await admin.post(PATH, json={"training": large})).status_code == 413

    async def test_is_for_administrators_since_it_holds_the_right_answers(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        assert (await admin.post(PATH, json={"training": training()})).status_code == 201
        for role in ("annotation", "analyst", "service", "team"):
            client = await suite.client("annotation", role)
            asked = [
                await client.post(PATH, json={"training": training()}),
                await client.get(PATH),
                await client.get(f"{PATH}/first_steps/versions/1"),
            ]
            assert [each.status_code for each in asked] == [403] * 3


class TestClient:
    async def test_creates_finds_and_lists_trainings(self, suite: RunningSuite):
        async with AsyncAnnotation(suite.urls["annotation"], await suite.keys.make("admin")) as client:
            for version in (1, 2, 3):
                document = Training.model_validate(training(version=version))
                created = await client.create_training(TrainingIn(training=document))
                assert created.training == document
                assert await client.get_training("first_steps", version) == created
            other = training(name="other", dialogues=[gold_dialogue("\u2028<i>", gold=RIGHT)])
            await client.create_training(TrainingIn(training=Training.model_validate(other)))
            listed = [each async for each in client.list_trainings(page_size=2)]
            assert [(each.name, each.version, each.dialogues) for each in listed] == [
                *(("first_steps", version, 3) for version in (1, 2, 3)),
                ("other", 1, 1),
            ]
            assert [each.version async for each in client.list_trainings(name="other")] == [1]
