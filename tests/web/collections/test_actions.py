"""What administrators can do with a collection follows from its mode and its state."""

import pytest

from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.web.collections.domain import collection_actions


class _Collection:
    def __init__(self, state: CollectionState, mode: str = "self_play") -> None:
        self.state, self.mode = state, mode


@pytest.mark.parametrize(
    ("state", "mode", "actions"),
    [
        (CollectionState.COLLECTING, "self_play", ("pause", "cancel")),
        (CollectionState.PAUSED, "bipartite", ("resume", "cancel")),
        (CollectionState.COLLECTING, "human_bot", ("finish",)),
        (CollectionState.COLLECTING, "import", ()),
        (CollectionState.COMPLETE, "self_play", ()),
    ],
)
def test_collections_can_do_what_their_mode_and_state_allow(
    state: CollectionState, mode: str, actions: tuple[str, ...]
):
    assert collection_actions(_Collection(state, mode)) == actions  # type: ignore[arg-type]
