"""Plain text for a model and from it: no control tokens in what it reads, no control characters in what it writes."""

import re
from typing import Any

_NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
"""What no reply may hold: control characters but tab and line feed, and overrides of the direction."""


class PlainText:
    """Removes a model's control tokens and halves of surrogate pairs from texts."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - transformers' tokenizers share no useful type
        added = {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
        self._controls = sorted(added | set(tokenizer.all_special_tokens), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for control in self._controls:
            text = text.replace(control, " ")
        return text.encode("utf-8", "replace").decode()


def tokens_without_text(tokenizer: Any, size: int) -> list[int]:  # noqa: ANN401 - as above
    """Return the tokens below `size` that no reply may hold, in order: control tokens, and control characters.

    A tokenizer of bytes has a token for each control character. A model that was trained for short draws them. A reply
    of control tokens alone, such as padding, would be empty.
    """
    tokens = range(min(size, len(tokenizer)))
    texts = tokenizer.batch_decode([[token] for token in tokens], clean_up_tokenization_spaces=False)
    controls = set(tokenizer.all_special_ids)
    return [token for token, text in zip(tokens, texts, strict=True) if token in controls or _NO_TEXT.search(text)]


def without_controls(text: str) -> str:
    """Return a model's text with U+FFFD in place of each control character, as a tokenizer decodes bytes of no text.

    Tokens of single bytes can make a control character together, such as C2 and 8F, so that `tokens_without_text`
    does not find it.
    """
    return _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", text)
