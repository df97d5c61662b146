"""Every state of collections, conversations and chats can be reached."""

from collections.abc import Mapping
from enum import StrEnum

import pytest

from spotthebot.contracts.conversations.chats import ChatState
from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.conversations.chats.domain import chats as chats_domain
from spotthebot.conversations.collections.domain import TRANSITIONS
from spotthebot.conversations.conversations import domain as conversations_domain


@pytest.mark.parametrize(
    ("transitions", "states"),
    [
        (TRANSITIONS, CollectionState),
        (conversations_domain.TRANSITIONS, ConversationState),
        (chats_domain.TRANSITIONS, ChatState),
    ],
)
def test_every_state_is_in_its_table_and_can_be_reached(
    transitions: Mapping[StrEnum, frozenset[StrEnum]], states: type[StrEnum]
):
    first = next(iter(states))
    assert set(transitions) == set(states)
    assert frozenset({first}).union(*transitions.values()) == set(states)
