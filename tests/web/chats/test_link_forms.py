"""A form that makes links into chats says beside each field what is wrong with it."""

import pytest

from spotthebot.contracts.conversations.chat_entries import MAX_PEOPLE
from spotthebot.contracts.wire import LONGEST_ID
from spotthebot.web.chats.forms import MAX_PASTED, faults_of_links

SOUND = {"for": "PROLIFIC_PID", "days": "14"}


@pytest.mark.parametrize(
    ("typed", "people", "faults"),
    [
        ({}, [], {}),
        ({"most": str(MAX_PEOPLE), "days": "366"}, [], {}),
        ({"most": str(MAX_PEOPLE + 1), "days": "367"}, [], {"days": "days", "most": "most"}),
        ({"most": "0", "days": "0"}, [], {"days": "days", "most": "most"}),
        ({"most": "²", "days": ""}, [], {"days": "days", "most": "most"}),
        ({"for": "nobody"}, [], {"for": "for"}),
        ({"for": "people", "most": "x"}, [], {"people": "no_people"}),
        ({"for": "people"}, ["x" * LONGEST_ID] * MAX_PASTED, {}),
        ({"for": "people"}, ["x"] * (MAX_PASTED + 1), {"people": "many_people"}),
        ({"for": "people"}, ["x" * (LONGEST_ID + 1)], {"people": "long_people"}),
        ({"for": "people"}, ["a\tb"], {"people": "long_people"}),
        ({"code": "c" * 201}, [], {"code": "code"}),
    ],
)
def test_faults_of_links_are_named_by_field(typed: dict[str, str], people: list[str], faults: dict[str, str]):
    assert faults_of_links(SOUND | typed, people) == faults
