"""A bot that returns its partner's words as an echo or a question."""

from spotthebot.bots.builtin_bots.domain.chance import chance_in
from spotthebot.bots.builtin_bots.domain.reflection import reflected
from spotthebot.bots.builtin_bots.domain.words import sentences
from spotthebot.bots.questions.domain.dialogue import Context

LONGEST_ECHO = 20
"""The maximum of words repeated from a sentence."""
LONGEST_WORD = 40
"""The maximum of characters repeated from a word."""
_OPENINGS = ("Hello.", "Hi there.", "Hello, hello.")
_ECHOES = ("{}?", "So {}.", "{}, you say?", "Ah, {}.", "You mean {}?")
_QUESTIONS_BACK = ("Well, {}?", "You ask me: {}?", "What do you think, {}?", "Hmm, {}?")


class ParrotBot:
    """Replies with the last sentence of its partner, persons swapped."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def reply(self, context: Context) -> str:
        chance = chance_in(self._seed, context)
        heard = sentences(context.turns[-1]) if context.turns else []
        if not heard:
            return chance.choice(_OPENINGS)
        sentence = heard[-1].strip()
        core = sentence.rstrip(".!?, ") or sentence
        spoken = [word[:LONGEST_WORD] for word in core.split()[:LONGEST_ECHO]]
        echo = reflected([_without_capital(spoken[0]), *spoken[1:]])
        said = chance.choice(_QUESTIONS_BACK if sentence.endswith("?") else _ECHOES).format(echo.rstrip(".!?,"))
        return said[0].upper() + said[1:]


def _without_capital(word: str) -> str:
    return word if word == "I" or word.startswith("I'") or word.isupper() else word[0].lower() + word[1:]
