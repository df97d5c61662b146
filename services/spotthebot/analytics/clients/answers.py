"""Reads annotations in the form that the analysis needs: coded answers, sides of a game, times."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from spotthebot.analytics.games.domain import PlayedSide
from spotthebot.analytics.labels.domain import IMPORT, LABEL_CODES, CodedAnnotation, elapsed_ms_of
from spotthebot.contracts.annotation.annotations import LEADS, AnnotationOut, Label, Preference
from spotthebot.contracts.annotation.campaigns import CampaignOut

_Value = TypeVar("_Value", bound=Hashable)


class _SpotTheBotAnswer(BaseModel):
    """The labels and the features; a feature that was not asked counts as equal on both sides."""

    entity: dict[Literal["A", "B"], Label]
    fluency: Preference = Preference.TIE
    sensibleness: Preference = Preference.TIE
    specificity: Preference = Preference.TIE

    @property
    def leads(self) -> tuple[int, int, int]:
        """Return for each feature 1 if A had more, -1 if B had more."""
        return LEADS[self.fluency], LEADS[self.sensibleness], LEADS[self.specificity]


def played_sides(annotation: AnnotationOut, spoke: Sequence[tuple[str, bool]]) -> Iterator[PlayedSide]:
    """Read an answer by the protocol `spot_the_bot_gamified`, with the turns at which the annotator decided.

    `spoke` has the name of each speaker, and whether it is a person.
    """
    answer = _SpotTheBotAnswer.model_validate(annotation.answer)
    turns = {each.target: each.exchanges for each in annotation.decisions if each.question == "entity"}
    sides: tuple[tuple[Literal["A", "B"], int], ...] = (("A", 1), ("B", -1))
    for (side, sign), (speaker, is_human) in zip(sides, spoke, strict=True):
        first, second, third = answer.leads
        yield PlayedSide(
            conversation=annotation.conversation_id,
            annotator=annotation.annotator,
            package=annotation.package_id,
            label=answer.entity[side],
            is_human=is_human,
            turn=turns.get(side, annotation.exchanges),
            turns=annotation.exchanges,
            speaker=speaker,
            leads=(sign * first, sign * second, sign * third),
            annotator_kind=annotation.annotator_kind,
        )


class Known(dict[Any, Any]):
    """Returns the first of several equal values, so that memory holds only one copy of equal ids and answers."""

    def __missing__(self, value: _Value) -> _Value:
        self[value] = value
        return value


def is_whole(annotation: AnnotationOut) -> bool:
    """Return whether no answer of an annotation is missing. Only judges leave answers out."""
    labels = annotation.judge_labels
    return labels is None or all(each.missing is None for each in labels.answers)


def coded_annotation(annotation: AnnotationOut, campaign: CampaignOut, known: Known) -> CodedAnnotation:
    """Read an answer by the protocol `spot_the_bot`."""
    answer = _SpotTheBotAnswer.model_validate(annotation.answer)
    return CodedAnnotation(
        conversation=known[annotation.conversation_id],
        package=known[annotation.package_id],
        exchanges=annotation.exchanges,
        annotator=known[annotation.annotator],
        annotator_kind=annotation.annotator_kind,
        labels=known[LABEL_CODES[answer.entity["A"]], LABEL_CODES[answer.entity["B"]]],
        leads=known[answer.leads],
        elapsed_ms=elapsed_ms_of(annotation, is_import=campaign.mode == IMPORT),
    )
