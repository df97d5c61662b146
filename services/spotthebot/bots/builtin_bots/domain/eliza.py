"""A bot in the manner of Weizenbaum's ELIZA (1966): patterns, reflected words and open questions.

The rules in `eliza_rules` are in our own words. The first rule that matches the partner's last sentences is used. The
seeds and the number of the turn select one of the rule's answers. No answer is repeated in a conversation while another
rule or answer is left.
"""

from collections.abc import Iterator, Sequence

from spotthebot.bots.builtin_bots.domain.chance import chance_of
from spotthebot.bots.builtin_bots.domain.eliza_rules import OPENINGS, RULES, WHEN_LOST
from spotthebot.bots.builtin_bots.domain.reflection import reflected
from spotthebot.bots.builtin_bots.domain.words import plain, sentences
from spotthebot.bots.questions.domain.dialogue import Context

LONGEST_READ = 400
"""The number of characters read at the end of a turn."""
LONGEST_ECHO = 12
"""The number of the partner's words that an answer repeats at most."""


class ElizaBot:
    """Replies by the first rule that fits the partner's last turn."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def reply(self, context: Context) -> str:
        if not context.turns:
            return self._rotated(OPENINGS, context)[0]
        heard = sentences(plain(context.turns[-1])[-LONGEST_READ:])[-3:]
        said = set(context.turns)
        for answers in (*_fitting(heard), WHEN_LOST):
            unsaid = [answer for answer in self._rotated(answers, context) if answer not in said]
            if unsaid:
                return unsaid[0]
        return self._rotated(WHEN_LOST, context)[0]

    def _rotated(self, answers: Sequence[str], context: Context) -> Sequence[str]:
        """Rotate the answers by one each turn, from a start that the seeds determine."""
        start = chance_of(self._seed, context.seed, tuple(answers)).randrange(len(answers))
        first = (start + len(context.turns) // 2) % len(answers)
        return [*answers[first:], *answers[:first]]


def _fitting(heard: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the answers of every fitting rule, the most specific rule and the last sentence first."""
    for rule in RULES:
        for sentence in reversed(heard):
            found = rule.pattern.search(sentence)
            if found:
                rest = _turned_round(found.groupdict().get("rest", ""))
                yield [answer.format(rest) for answer in rule.answers]


def _turned_round(clause: str) -> str:
    return reflected(clause.rstrip(" .!?").split()[:LONGEST_ECHO]) or "that"
