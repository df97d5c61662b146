"""Logs of people's chats with bots in ConvAI2's form: who is a person, which bot spoke, and how the person rated it."""

import json
from pathlib import Path
from typing import Any

import pytest

from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.importers.dump_import import Imported
from spotthebot.importers.table_import import import_logs
from spotthebot.kit.crypto.pseudonyms import is_pseudonym
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.session import Clients
from spotthebot.readers.conversations import holds_turns
from spotthebot.readers.errors import MappingFault
from spotthebot.readers.files.rows import open_table
from spotthebot.readers.human_bot_logs import BotNames, LogReader, holds_logs
from spotthebot.readers.meanings.values import ValueWords
from spotthebot.readers.rejected import Rejected
from tests.factories.saved_files import Save


def _turns(*said: tuple[str, str], **classes: str) -> list[dict[str, Any]]:
    kinds = {"p1": "Human", "p2": "Bot", **classes}
    return [
        {"id": at, "sender": who, "text": text, "evaluation_score": None, "sender_class": kinds[who]}
        for at, (who, text) in enumerate(said)
    ]


SAID = _turns(("p2", "Hi!"), ("p1", "Hello."), ("p1", "Who are you?"), ("p2", "A nurse."))


def _dialogue(name: str = "0x1", **fields: Any) -> dict[str, Any]:
    base = {"dialog_id": name, "dialog": SAID, "bot_profile": ["i am a nurse."], "eval_score": 4, "profile_match": ""}
    return {**base, "p1_id": "u7", "p2_id": "b1", **fields}


def _reader(path: Path, bots: tuple[str, ...] = ()) -> LogReader:
    table = open_table(path)
    turns = holds_turns(table)
    assert turns is not None
    assert holds_logs(table, turns)
    return LogReader(table, turns, ValueWords.of(), frozenset(), BotNames.of(bots), "logs", "imported")


def _read(save: Save, *dialogues: object, bots: tuple[str, ...] = ()) -> list[ExportedConversation | Rejected]:
    return [*_reader(save(json.dumps([_dialogue("0x0"), *dialogues]), "logs.json"), bots).read()][1:]


class TestSides:
    def test_person_is_hu_and_consecutive_turns_are_one(self, save: Save):
        (found,) = _read(save, _dialogue())
        assert isinstance(found, ExportedConversation)
        assert (found.mode, found.bots) == ("human_bot", ("b1", "HU"))
        assert [str(side.kind) for side in found.participants] == ["bot", "human"]
        assert [turn.text for turn in found.turns] == ["Hi!", "Hello.\nWho are you?", "A nurse."]

    @pytest.mark.parametrize(
        ("fields", "given", "name"),
        [
            ({}, (), "b1"),
            ({}, ("other",), "b1"),
            ({}, ("b1=alpha", "other"), "alpha"),
            ({"p2_id": {"class": "Bot", "user_id": "b2"}}, (), "b2"),
            ({"p2_id": "Bot"}, ("other",), "other"),
            ({"p2_id": None}, ("other",), "other"),
            ({"model": "gpt", "p2_id": "b1"}, (), "gpt"),
            ({"model": "gpt", "p2_id": "b1"}, ("b1=alpha",), "alpha"),
            ({"p2_id": "a=b"}, ("a=b=alpha",), "alpha"),
        ],
    )
    def test_bot_has_a_name_of_the_file_or_of_the_user(
        self, save: Save, fields: dict[str, Any], given: tuple[str, ...], name: str
    ):
        (found,) = _read(save, _dialogue(**fields), bots=given)
        assert isinstance(found, ExportedConversation)
        assert found.bots == (name, "HU")

    @pytest.mark.parametrize("given", [("=x",), ("x=",), ("",), ("one", "two")])
    def test_unclear_names_are_refused(self, given: tuple[str, ...]):
        with pytest.raises(MappingFault, match="--bot"):
            BotNames.of(given)

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"p2_id": None}, "nothing in the file names its bot: --bot NAME names it"),
            ({"dialog": []}, "its dialog must be a list of turns"),
            ({"dialog": _turns(("p1", "Hi"), ("p2", "Ho"), p2="Human")}, "both sides are people"),
            ({"dialog": _turns(("p1", "Hi"), ("p2", "Ho"), p1="Bot")}, "both sides are bots"),
            ({"dialog": _turns(("p1", "Hi"), ("p2", "Ho"), p2="Alien")}, "sender_class of 'p2' is alien, not Human"),
            ({"dialog": _turns(("p1", "Hi"), ("p2", "Ho"), p2="")}, "sender_class of 'p2' is nothing, not Human"),
            ({"dialog": [*SAID, *_turns(("p1", "x"), p1="Bot")]}, "sender_class of 'p1' is bot and human"),
            ({"dialog": _turns(("p1", "Hi"), ("p1", "Anybody?"))}, "must have two speakers, and has p1"),
            ({"dialog": _turns(("p1", "Hi"), ("p2", " "))}, "turn 2 is empty"),
            ({"dialog": _turns(("p1", "Hi"), ("p2", "\x00"))}, "must not contain NUL characters"),
            ({"p2_id": "b\u200b1"}, "U+200B"),
            ({"eval_score": 6}, "its eval_score '6' is not a whole number from 1 to 5"),
            ({"eval_score": 0}, "its eval_score '0' is not"),
            ({"eval_score": 3.5}, "its eval_score '3.5' is not"),
            ({"eval_score": "good"}, "its eval_score 'good' is not"),
            ({"dialog_id": "0x0"}, "is on an earlier line already"),
        ],
    )
    def test_dialogue_that_is_no_chat_with_a_bot_is_rejected_alone(
        self, save: Save, fields: dict[str, Any], reason: str
    ):
        wrong, right = _read(save, _dialogue("0x1", **fields), _dialogue("0x2"))
        assert isinstance(wrong, Rejected)
        assert reason in wrong.reason
        assert isinstance(right, ExportedConversation)

    def test_broken_line_is_rejected_alone(self, save: Save):
        lines = [json.dumps(_dialogue("0x1")), '{"dialog_id": "0x2", "dialog": [', json.dumps(_dialogue("0x3"))]
        found = [*_reader(save("\n".join(lines), "logs.jsonl")).read()]
        assert [getattr(each, "id", getattr(each, "line", None)) for each in found] == ["0x1", 2, "0x3"]

    def test_control_characters_are_kept(self, save: Save):
        (found,) = _read(save, _dialogue(dialog=_turns(("p1", "Hi\x07\x1b[31m"), ("p2", "Ho"))))
        assert isinstance(found, ExportedConversation)
        assert found.turns[0].text == "Hi\x07\x1b[31m"

    def test_other_conversations_are_no_logs(self, save: Save):
        turns = [{"speaker": "x", "text": "hi"}, {"speaker": "y", "text": "ho"}]
        table = open_table(save(json.dumps([{"id": "c1", "turns": turns}]), "a.json"))
        assert not holds_logs(table, "turns")


class TestProfiles:
    @pytest.mark.parametrize(
        ("fields", "personas"),
        [
            ({}, ("i am a nurse.", "")),
            ({"user_profile": ["i ski.", "i am 40."]}, ("i am a nurse.", "i ski.\ni am 40.")),
            ({"bot_profile": [], "user_profile": None}, None),
            ({"bot_profile": "a nurse"}, ("a nurse", "")),
            ({"bot_profile": [[*"i ski."], [*"i am 40."]]}, ("i ski.\ni am 40.", "")),
            ({"bot_profile": [[*"i ski."]]}, ("i ski.", "")),
        ],
    )
    def test_are_personas_of_the_sides(self, save: Save, fields: dict[str, Any], personas: tuple[str, str] | None):
        """The bot speaks first, so it is side A."""
        (found,) = _read(save, _dialogue(**fields))
        assert isinstance(found, ExportedConversation)
        assert found.personas == personas

    def test_in_another_form_reject_the_dialogue_alone(self, save: Save):
        wrong, right = _read(save, _dialogue("0x1", bot_profile=[{"id": 3}]), _dialogue("0x2"))
        assert isinstance(wrong, Rejected)
        assert "its bot_profile is not a list of sentences" in wrong.reason
        assert isinstance(right, ExportedConversation)


class TestRatings:
    @pytest.mark.parametrize("score", [4, "4", 4.0])
    def test_score_is_a_rating_by_the_person(self, save: Save, score: object):
        (found,) = _read(save, _dialogue(eval_score=score, end_time="2018-11-02 10:20:30"))
        assert isinstance(found, ExportedConversation)
        assert found.rating is not None
        assert [(each.question, each.score) for each in found.rating.scores] == [("eval_score", 4)]
        assert (found.rating.interactor, found.rating.interactor_kind) == ("u7", "person")
        assert found.rating.rated_at.isoformat() == "2018-11-02T10:20:30+00:00"

    @pytest.mark.parametrize("score", [None, "", -1, "NaN"])
    def test_chat_without_a_score_has_no_rating(self, save: Save, score: object):
        (found,) = _read(save, _dialogue(eval_score=score))
        assert isinstance(found, ExportedConversation)
        assert found.rating is None

    def test_people_whom_the_file_does_not_name_are_different_people(self, save: Save):
        one, other = _read(save, _dialogue("0x1", p1_id="Human"), _dialogue("0x2", p1_id=None))
        assert isinstance(one, ExportedConversation)
        assert isinstance(other, ExportedConversation)
        assert one.rating is not None
        assert other.rating is not None
        assert (one.rating.interactor, other.rating.interactor) == ("person of 0x1", "person of 0x2")


async def _import(clients: Clients, path: Path) -> tuple[CollectionOut, Imported, int]:
    with showing_progress() as steps:
        return await import_logs(clients, _reader(path).read(), "logs", "imported", steps)


class TestImport:
    async def test_ratings_are_those_of_chats_under_pseudonyms_and_again_nothing_changes(
        self, clients: Clients, save: Save
    ):
        last = _dialogue("0x4", p1_id="u8", p2_id="b2", eval_score=2)
        dialogues = [_dialogue("0x1"), _dialogue("0x2", eval_score=None), _dialogue("0x3", dialog=[]), last]
        path = save(json.dumps(dialogues), "logs.json")
        for stored, known in ((3, 0), (0, 3)):
            collection, done, ratings = await _import(clients, path)
            assert (done.counts["read"], ratings) == ({"conversations": 4}, 2)
            assert (done.stored["conversations"], done.already_there["conversations"]) == (stored, known)
            assert [each.reason for each in done.rejected] == [
                "element 3: its dialog must be a list of turns with a speaker and a text"
            ]
        rated = [each async for each in clients.conversations.list_chat_ratings(collection.id)]
        scores = {each.conversations[0].participant.name: each.conversations[0].scores for each in rated}
        assert scores == {"b1": {"eval_score": 4}, "b2": {"eval_score": 2}}
        assert all(is_pseudonym(each.interactor) for each in rated)
        assert len({each.interactor for each in rated}) == 2

    async def test_other_chat_of_a_known_id_is_listed_as_rejected(self, clients: Clients, save: Save):
        await _import(clients, save(json.dumps([_dialogue("0x1")]), "logs.json"))
        _, done, _ = await _import(clients, save(json.dumps([_dialogue("0x1", eval_score=1)]), "logs.json"))
        ((file, reason),) = [(each.file, each.reason) for each in done.rejected]
        assert (file, done.stored["conversations"]) == ("conversation '0x1'", 0)
        assert "stands for another conversation already" in reason
