"""Cuts many requests into batches that waste little on padding and fit into memory and context."""

from collections.abc import Sequence

MAX_ROWS = 64
_MAX_TOKENS = 32_768


def groups(sizes: Sequence[tuple[int, int]], context_length: int, *, max_rows: int = MAX_ROWS) -> list[list[int]]:
    """Return the indices of rows that are run together; a row's size is its prompt's length and its reply's limit.

    Rows of similar length lie together. A row that is done goes on until its group is, so a group's longest prompt and
    its longest reply must fit into the context together, too.
    """
    made: list[list[int]] = []
    for index in sorted(range(len(sizes)), key=lambda each: sizes[each], reverse=True):
        if not made or len(made[-1]) == max_rows or not _fits([*made[-1], index], sizes, context_length):
            made.append([])
        made[-1].append(index)
    return made


def _fits(group: Sequence[int], sizes: Sequence[tuple[int, int]], context_length: int) -> bool:
    width = max(sizes[index][0] for index in group) + max(sizes[index][1] for index in group)
    return width <= context_length and width * len(group) <= _MAX_TOKENS
