"""The vocabulary of our own model kinds: learned from a corpus, or read from a checkpoint."""

from tokenizers import Tokenizer

from spotthebot.inference.models.dialogue.turn_tokens import CONTROLS, TurnTokens
from spotthebot.local.training.examples import Dialogues
from spotthebot.local.training.vocabularies import learn_vocabulary


class OwnVocabulary:
    """A tokenizer that begins with the control tokens; `text` is its serialised form."""

    def __init__(self, dialogues: Dialogues, size: int, text: str | None) -> None:
        turns = (turn for dialogue in dialogues for turn in dialogue)
        self.tokenizer = Tokenizer.from_str(text) if text else learn_vocabulary(turns, size, CONTROLS)
        self.text: str = self.tokenizer.to_str()
        self.tokens = TurnTokens(self.tokenizer)
