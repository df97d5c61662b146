"""The values that people give to bots after a chat: a score for each question, and which conversation was better."""

import hashlib
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from uuid import UUID

from spotthebot.analytics.labels.domain import annotators_by_kind
from spotthebot.analytics.stats.annotations import HUMAN
from spotthebot.analytics.values.domain.measure_values import Row, Values, rated_values
from spotthebot.analytics.values.domain.value_table import RatedValue
from spotthebot.contracts.analytics.provenance import Counts
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.measures import Measure
from spotthebot.contracts.conversations.chats import DIALOGUE_LIKERT, SCORES, ChatRatingOut, RatedConversationOut
from spotthebot.contracts.conversations.conversations import ParticipantKind
from spotthebot.contracts.repeated_texts import RepeatedTexts, find_repeated_texts

CHATS: Final = "chats"
"""What a study calls the ratings in its chats."""
_PREFERRED: Final = "preferred"
_PREFERRED_TEXT: Final = "Which of the two conversations was better?"
_TEXTS: Final = {each.name: each.text for each in DIALOGUE_LIKERT}


@dataclass(frozen=True)
class RatedChats:
    """The ratings of chats of one or several collections.

    `asked` has the questions of the collections by their names, as far as these are known. `texts` has a hash of the
    text of each conversation. `complete` says that nobody can add a rating.
    """

    domain: str
    complete: bool
    asked: Mapping[str, str]
    ratings: Sequence[ChatRatingOut]
    texts: Mapping[UUID, str]

    @property
    def campaign_id(self) -> None:
        """Return None: chats belong to no campaign."""

    @property
    def campaign(self) -> str:
        """Return what results call the chats in place of a campaign."""
        return CHATS

    @property
    def bots(self) -> frozenset[str]:
        """Return the names of the rated bots."""
        rated = (_bot(each) for chat in self.ratings for each in chat.conversations)
        return frozenset(name for name in rated if name is not None)

    @cached_property
    def measures(self) -> Mapping[str, Measure]:
        """Return a measure for each question, and the preferences if people chatted with two bots.

        The preference all in all is called `preferred`, or `chats.preferred` if a question is called `preferred`, too.
        The preference by a question is called `preferred:QUESTION`.
        """
        scored = {name for chat in self.ratings for each in chat.conversations for name in each.scores}
        others = {name: _TEXTS.get(name, name) for name in sorted(scored - self.asked.keys())}
        texts = {**self.asked, **others}
        found = {
            name: Measure(
                measure=name,
                question=text,
                level="dialogue",
                kind="scale",
                lowest=SCORES[0],
                highest=SCORES[-1],
                better="higher",
            )
            for name, text in texts.items()
        }
        if any(_compared(chat) for chat in self.ratings):
            name = f"{CHATS}.{_PREFERRED}" if _PREFERRED in found else _PREFERRED
            found[name] = _preference(name, _PREFERRED_TEXT)
        for question in sorted({name for chat in self.ratings for name in chat.preferences}):
            name = f"{_PREFERRED}:{question}"
            found[name] = _preference(name, f"{_PREFERRED_TEXT} {texts.get(question, question)}")
        return found

    @property
    def counts(self) -> Counts:
        """Return how many data there are. An annotation is a rated chat."""
        rated = [each for chat in self.ratings for each in chat.conversations]
        scored = sum(bool(each.scores) for each in rated)
        by_kind = annotators_by_kind((chat.interactor, chat.interactor_kind) for chat in self.ratings)
        return Counts(
            conversations=len(rated),
            annotated_conversations=scored,
            annotations=len(self.ratings),
            annotators=by_kind.total(),
            segments=scored,
            simulated_annotators=by_kind[AnnotatorKind.SIMULATED],
            judges=by_kind[AnnotatorKind.JUDGE],
        )

    @property
    def repeated_texts(self) -> tuple[RepeatedTexts, ...]:
        """Return the bots whose chats repeat texts."""
        rated = (each for chat in self.ratings for each in chat.conversations)
        return find_repeated_texts(((HUMAN, each.participant.name), self._text_of(each)) for each in rated)

    @cached_property
    def sha256(self) -> str:
        """Return a fingerprint of bots, people and ratings."""
        digest = hashlib.sha256()
        for chat in self.ratings:
            rated = [(each.participant.name, sorted(each.scores.items())) for each in chat.conversations]
            better = [each.conversation_id == chat.preferred for each in chat.conversations]
            by_question = [
                (name, *(each.conversation_id == preferred for each in chat.conversations))
                for name, preferred in sorted(chat.preferences.items())
            ]
            digest.update(repr((chat.interactor, rated, better, by_question)).encode())
        return digest.hexdigest()

    def values(self, name: str) -> Values:
        """Return the values of a measure; raises KeyError if there is no measure of this name."""
        return Values.of(self.measures[name], [row for chat in self.ratings for row in self._rows(name, chat)])

    def rated(self, name: str) -> Iterator[RatedValue]:
        """Yield the values of a measure for a table of values; raises KeyError as `values` does."""
        for chat in self.ratings:
            yield from rated_values(self._rows(name, chat), math.nan)

    @property
    def shown_texts(self) -> Iterator[tuple[str, str]]:
        """Yield conversations with their texts, as far as these are known."""
        for conversation, text in self.texts.items():
            yield str(conversation), text

    def _rows(self, name: str, chat: ChatRatingOut) -> Iterator[Row]:
        if self.measures[name].kind == "preference":
            question = name.removeprefix(f"{_PREFERRED}:")
            if question == name:
                yield from self._compare(_compared(chat), chat, chat.preferred)
            elif question in chat.preferences and len(chat.conversations) == 2:
                first, second = chat.conversations
                yield from self._compare((first, second), chat, chat.preferences[question])
            return
        for each in chat.conversations:
            if name in each.scores:
                own = str(each.conversation_id)
                text, value = self._text_of(each), float(each.scores[name])
                kind = chat.interactor_kind
                yield Row(own, text, chat.interactor, _bot(each), value, own, annotator_kind=kind)

    def _compare(
        self,
        compared: tuple[RatedConversationOut, RatedConversationOut] | None,
        chat: ChatRatingOut,
        preferred: UUID | None,
    ) -> Iterator[Row]:
        if compared is None:
            return
        first, second = compared
        one, other = _bot(first), _bot(second)
        value = 0.5 if preferred is None else float(preferred == first.conversation_id)
        conversations = str(first.conversation_id), str(second.conversation_id)
        yield Row(
            unit=conversations,
            text=(self._text_of(first), self._text_of(second)),
            annotator=chat.interactor,
            bot=None if one == other or other is None else one,
            value=value,
            conversation=conversations[0],
            other=other,
            other_conversation=conversations[1],
            annotator_kind=chat.interactor_kind,
        )

    def _text_of(self, rated: RatedConversationOut) -> Hashable:
        return self.texts.get(rated.conversation_id, (rated.conversation_id,))


def _preference(name: str, text: str) -> Measure:
    return Measure(measure=name, question=text, level="pair", kind="preference", lowest=0, highest=1, better="higher")


def _compared(chat: ChatRatingOut) -> tuple[RatedConversationOut, RatedConversationOut] | None:
    """Return the two conversations that the person compared, if any.

    If neither was better, both must have scores: a person may leave out a conversation that was broken off.
    """
    if len(chat.conversations) != 2:
        return None
    first, second = chat.conversations
    if chat.preferred is None and not (first.scores and second.scores):
        return None
    return first, second


def _bot(rated: RatedConversationOut) -> str | None:
    return None if rated.participant.kind is ParticipantKind.HUMAN else rated.participant.name
