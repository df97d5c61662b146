"""Cleans texts for a model: removes its control tokens."""

from typing import Any


class PlainText:
    """Removes a model's control tokens and halves of surrogate pairs from texts."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - transformers' tokenizers share no useful type
        added = {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
        self._controls = sorted(added | set(tokenizer.all_special_tokens), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for control in self._controls:
            text = text.replace(control, " ")
        return text.encode("utf-8", "replace").decode()
