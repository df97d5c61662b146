"""Annotations as the analysis reads them: answers in codes, sides of a game, times."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel

from spotthebot.analytics.domain.leaderboard import PlayedSide
from spotthebot.analytics.domain.study import LABEL_CODES, SIMULATED, CodedAnnotation
from spotthebot.contracts.annotation.annotations import AnnotationOut, Label, Preference
from spotthebot.contracts.annotation.campaigns import CampaignOut

_Value = TypeVar("_Value", bound=Hashable)
_LEAD: Final = {Preference.A: 1, Preference.TIE: 0, Preference.B: -1}


class _Entities(BaseModel):
    """What an answer takes both sides for; a game asks nothing else."""

    entity: dict[Literal["A", "B"], Label]


class _SpotTheBotAnswer(_Entities):
    """An answer by the protocol `spot_the_bot`; of a feature that was not asked for nobody had more."""

    fluency: Preference = Preference.TIE
    sensibleness: Preference = Preference.TIE
    specificity: Preference = Preference.TIE


def played_sides(annotation: AnnotationOut, are_human: Sequence[bool]) -> Iterator[PlayedSide]:
    """Read an answer by the protocol `spot_the_bot_gamified`, with the turns of its decisions."""
    labels = _Entities.model_validate(annotation.answer).entity
    turns = {each.target: each.exchanges for each in annotation.decisions if each.question == "entity"}
    for (side, label), is_human in zip((("A", labels["A"]), ("B", labels["B"])), are_human, strict=True):
        yield PlayedSide(
            conversation=annotation.conversation_id,
            annotator=annotation.annotator,
            package=annotation.package_id,
            label=label,
            is_human=is_human,
            turn=turns.get(side, annotation.exchanges),
            turns=annotation.exchanges,
        )


class Known(dict[Any, Any]):
    """Returns of equal values the first: annotations share their ids and answers, and each would have its own."""

    def __missing__(self, value: _Value) -> _Value:
        self[value] = value
        return value


def coded_annotation(annotation: AnnotationOut, campaign: CampaignOut, known: Known) -> CodedAnnotation:
    """Read an answer by the protocol `spot_the_bot`."""
    answer = _SpotTheBotAnswer.model_validate(annotation.answer)
    return CodedAnnotation(
        conversation=known[annotation.conversation_id],
        package=known[annotation.package_id],
        exchanges=annotation.exchanges,
        annotator=known[annotation.annotator],
        labels=known[LABEL_CODES[answer.entity["A"]], LABEL_CODES[answer.entity["B"]]],
        leads=known[_LEAD[answer.fluency], _LEAD[answer.sensibleness], _LEAD[answer.specificity]],
        elapsed_ms=_elapsed_ms(annotation, campaign),
    )


def _elapsed_ms(annotation: AnnotationOut, campaign: CampaignOut) -> int | None:
    """Return the time by the server's clock; simulated annotators take none, and what they report is simulated."""
    # An import without a beginning has no duration either, whatever its exporter wrote there.
    if campaign.mode == "import" and annotation.started_at is None:
        return None
    return annotation.reported_ms if annotation.annotator.startswith(SIMULATED) else annotation.elapsed_ms
