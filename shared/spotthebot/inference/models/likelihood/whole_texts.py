"""Where a reply's tokens lie among those of the whole text around it."""

from collections.abc import Sequence
from typing import Any

Split = tuple[list[int], list[int]]
"""The tokens before a reply, and the reply's own."""


class WholeTexts:
    """Tokenizes whole texts. A token that holds a character of the reply is the reply's, with what else it holds."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - transformers' tokenizers share no useful type
        self._tokenizer = tokenizer
        self._marks = {number for number, token in tokenizer.added_tokens_decoder.items() if not token.normalized}

    def tokens(self, before: str, replies: Sequence[str], after: str) -> list[Split]:
        """Return the tokens of `before + reply + after` for each reply, up to the reply's last one.

        Raises ValueError for a tokenizer that does not tell where its tokens lie, unless no token reaches over the
        reply's start.
        """
        if not self._tokenizer.is_fast:
            return [self._split_at_prefix(before, reply) for reply in replies]
        head, tail = self._cut(before)
        if not head:
            return self._split(before, replies, after)
        (whole,) = self._split(before, replies[:1], after)
        first, *others = ((head + context, reply) for context, reply in self._split(tail, replies, after))
        if first == whole:
            return [first, *others]
        return self._split(before, replies, after)

    def _cut(self, before: str) -> tuple[list[int], str]:
        """Return the tokens before the last mark, and the text from there on, which is short.

        Tokenizers part a text at such marks before all else, so that its tokens don't depend on the text before.
        """
        encoded = self._tokenizer(before, add_special_tokens=False, return_offsets_mapping=True)
        ids = list(encoded["input_ids"])
        last = next((at for at in reversed(range(len(ids))) if ids[at] in self._marks), 0)
        return ids[:last], before[encoded["offset_mapping"][last][0] :] if last else before

    def _split(self, before: str, replies: Sequence[str], after: str) -> list[Split]:
        texts = [before + reply + after for reply in replies]
        encoded = self._tokenizer(texts, add_special_tokens=False, return_offsets_mapping=True)
        found = []
        for reply, ids, spans in zip(replies, encoded["input_ids"], encoded["offset_mapping"], strict=True):
            start, stop = len(before), len(before) + len(reply)
            first = next((at for at, span in enumerate(spans) if span[1] > start), len(ids))
            last = next((at for at in range(first, len(ids)) if spans[at][0] >= stop), len(ids))
            found.append((list(ids[:first]), list(ids[first:last])))
        return found

    def _split_at_prefix(self, before: str, reply: str) -> Split:
        context, whole = (
            list(self._tokenizer(text, add_special_tokens=False)["input_ids"]) for text in (before, before + reply)
        )
        if whole[: len(context)] != context:
            message = "the tokenizer does not tell where a message begins among its tokens: name another join"
            raise ValueError(message)
        return context, whole[len(context) :]
