"""How models of our own kinds read a conversation: each turn after its speaker's mark, and last the model's mark."""

from collections.abc import Iterable, Sequence

from tokenizers import Tokenizer

PADDING, END, SELF, PARTNER = "<pad>", "<end>", "<self>", "<partner>"
CONTROLS = (PADDING, END, SELF, PARTNER)
"""The first tokens of every vocabulary, in this order; padding is number 0."""


class TurnTokens:
    """A trained tokenizer whose vocabulary begins with the control tokens; texts never contain them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        if [tokenizer.token_to_id(control) for control in CONTROLS] != list(range(len(CONTROLS))):
            message = f"the vocabulary does not begin with {', '.join(CONTROLS)}"
            raise ValueError(message)
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self.padding, self.end, self.self_, self.partner = range(len(CONTROLS))

    def __len__(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    def ids(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text.encode("utf-8", "replace").decode()).ids)

    def text(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True)).strip()

    def context(self, newest_first: Iterable[Sequence[int]], room: int) -> list[int]:
        """Return the tokens of a conversation in which the model speaks next, from the tokens of its turns.

        The newest turn is the partner's. The oldest turns are left out if not all turns fit. If even the newest turn
        does not fit, it loses its start.
        """
        whole = [self.self_]
        for index, turn in enumerate(newest_first):
            mark = self.self_ if index % 2 else self.partner
            if len(whole) + len(turn) + 1 > room:
                if index == 0 and room > 2:
                    whole = [mark, *turn[-(room - 2) :], *whole]
                break
            whole = [mark, *turn, *whole]
        return whole
