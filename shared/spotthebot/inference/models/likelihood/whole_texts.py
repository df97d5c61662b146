"""Tokenizes a text around a reply as a whole, and finds the reply's tokens in it."""

from collections.abc import Sequence
from typing import Any

Split = tuple[list[int], list[int]]
"""The tokens before a reply, and the reply's own."""


class WholeTexts:
    """Tokenizes whole texts. A token that holds a character of the reply belongs to the reply."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - transformers' tokenizers share no useful type
        self._tokenizer = tokenizer
        self._marks = {number for number, token in tokenizer.added_tokens_decoder.items() if not token.normalized}

    def tokens(self, before: str, replies: Sequence[str], after: str) -> list[Split]:
        """Return for each reply the tokens of `before + reply + after`, up to the reply's last token.

        Raises ValueError if the tokenizer does not report the positions of its tokens, unless no token spans the
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
        """Return the tokens before the last special token in a text, and the short rest of the text.

        Tokenizers first split a text at special tokens, so the tokens after one don't depend on the text before it.
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
