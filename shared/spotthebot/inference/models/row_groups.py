"""Divides many requests into batches. A batch has little padding, and fits into memory and into the model's context."""

from collections.abc import Sequence

MAX_ROWS = 64
_MAX_TOKENS = 32_768


def groups(sizes: Sequence[tuple[int, int]], context_length: int, *, max_rows: int = MAX_ROWS) -> list[list[int]]:
    """Return the indices of rows that run together. The size of a row is its prompt's length and its reply's limit.

    Rows of similar length are together. A row that is finished continues until its group is finished. So the longest
    prompt and the longest reply of a group must fit into the context together.
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
