"""Token tries of follow-ups. Follow-ups with the same first tokens share the computation of these tokens.

The last token of a follow-up is predicted, but not read by the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

END = -1
"""The place before a tree's first tokens: the last token of the context."""


@dataclass(frozen=True, eq=False)
class FollowupTree:
    """The trie of several follow-ups. Its nodes are the tokens that have a next token; other tokens are only predicted.

    Parents come before their children. Node i has the token `tokens[i]` (int64) and the depth `depths[i]`, which is 0
    directly after the context. `visible[i, j]` tells whether node i is node j or descends from it. In prediction k the
    node `sources[k]`, or the context's last token (END), predicts the token `targets[k]`. `paths` holds the predictions
    of each follow-up, in order.
    """

    tokens: NDArray[np.int64]
    depths: NDArray[np.int64]
    visible: NDArray[np.bool_]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    paths: tuple[NDArray[np.int64], ...]

    def __len__(self) -> int:
        return len(self.tokens)


@lru_cache(maxsize=64)
def build_tree(followups: tuple[tuple[int, ...], ...]) -> FollowupTree:
    """Return the tree of follow-ups, each of at least one token. Equal follow-ups share one path."""
    nodes: dict[tuple[int, ...], int] = {(): END}
    for followup in followups:
        for length in range(1, len(followup)):
            nodes.setdefault(followup[:length], len(nodes) - 1)
    predictions: dict[tuple[int, ...], int] = {}
    paths = []
    for followup in followups:
        prefixes = [followup[:length] for length in range(1, len(followup) + 1)]
        paths.append(_integers([predictions.setdefault(prefix, len(predictions)) for prefix in prefixes]))
    inner = [prefix for prefix in nodes if prefix]
    visible = np.eye(len(inner), dtype=np.bool_)
    for node, prefix in enumerate(inner):
        if len(prefix) > 1:
            visible[node] |= visible[nodes[prefix[:-1]]]
    return FollowupTree(
        tokens=_integers([prefix[-1] for prefix in inner]),
        depths=_integers([len(prefix) - 1 for prefix in inner]),
        visible=visible,
        sources=_integers([nodes[prefix[:-1]] for prefix in predictions]),
        targets=_integers([prefix[-1] for prefix in predictions]),
        paths=tuple(paths),
    )


def _integers(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)
