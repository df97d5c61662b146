"""Data of the sizes that the benchmarks want: games, and annotations of a whole campaign."""

from collections.abc import Hashable
from datetime import UTC, datetime
from uuid import UUID

import numpy as np

from spotthebot.analytics.labels.domain import CodedAnnotation, LabelledCampaign
from spotthebot.analytics.stats.wins import Games, Unit
from spotthebot.analytics.tasks.domain import Task, named_tasks
from spotthebot.analytics.values.domain.values import MeasuredCampaign
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.contracts.annotation.annotations import AnnotationOut, AnnotatorKind
from spotthebot.contracts.annotation.measures import measured_questions
from spotthebot.contracts.annotation.studies import StudyOut

BOTS = ("A", "B", "C", "D", "E", "F")
_TIES = 0.7


def simulated_games(n: int, *, unit: Unit = Unit.ANNOTATION, seed: int = 0) -> Games:
    """Draw n games of six bots; of two the one with the later name wins more often."""
    rng = np.random.default_rng(seed)
    pairs = np.array(np.triu_indices(len(BOTS), 1)).T
    first, second = pairs[np.arange(n) % len(pairs)].T
    stronger = rng.random(n) < 0.5 + 0.08 * (second - first)
    return Games(
        bots=BOTS,
        first=first,
        second=second,
        outcome=np.where(rng.random(n) < _TIES, 0, np.where(stronger, -1, 1)),
        conversation=np.arange(n) // (1 if unit is Unit.CONVERSATION else 6),
        annotator=rng.integers(40, size=n),
        unit=unit,
        criterion="human",
    )


def simulated_study(annotations: int, *, seed: int = 0) -> LabelledCampaign:
    """Draw a campaign of six bots and people: three lengths, two annotators each, labels by the speaker's skill."""
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for at, a in enumerate(BOTS) for b in BOTS[at + 1 :]] + [("HU", "HU")] * 3
    skill = {bot: 0.15 + 0.1 * at for at, bot in enumerate(BOTS)} | {"HU": 0.85}
    speakers: dict[Hashable, tuple[str, str]] = {f"c{at}": pairs[at % len(pairs)] for at in range(-(-annotations // 6))}
    coded = []
    names = [f"annotator-{at}" for at in range(max(40, annotations // 1000))]
    for name, sides in speakers.items():
        for exchanges in (2, 3, 5):
            for who in rng.choice(len(names), size=2, replace=False).tolist():
                draws = rng.random(2)
                first, second = (
                    2 if draw < skill[side] else 1 if draw < skill[side] + 0.1 else 0
                    for draw, side in zip(draws.tolist(), sides, strict=True)
                )
                fluency, sensibleness, specificity = rng.integers(-1, 2, size=3).tolist()
                coded.append(
                    CodedAnnotation(
                        conversation=name,
                        package="p",
                        exchanges=exchanges,
                        annotator=names[who],
                        labels=(first, second),
                        leads=(fluency, sensibleness, specificity),
                        elapsed_ms=int(rng.integers(5_000, 90_000)),
                    )
                )
    return LabelledCampaign(
        campaign_id=None,
        campaign="simulated",
        domain="everyday",
        complete=True,
        speakers=speakers,
        packages={"p": frozenset(speakers)},
        annotations=coded[:annotations],
    )


def rated_study(values: int, *, seed: int = 0) -> tuple[StudyOut, Task, MeasuredCampaign]:
    """Draw a study of one task: two annotators rate both bots of each conversation by eight questions.

    `values` is a multiple of the 32 values of a conversation. A rating is the bot's skill, the quality of the
    conversation's side and noise. The outcome is `quality`, the last question.
    """
    rng = np.random.default_rng(seed)
    questions = measured_questions(built_in_protocols()["dialogue_likert", 1])
    names, bots, n = [*questions], BOTS[:4], values // (4 * len(questions))
    pairs = [(a, b) for at, a in enumerate(bots) for b in bots[at + 1 :]]
    conversations = [UUID(int=at + 1) for at in range(n)]
    speakers = {each: pairs[at % len(pairs)] for at, each in enumerate(conversations)}
    annotators, package, at = max(20, n // 150), UUID(int=2**100), datetime(2026, 11, 27, tzinfo=UTC)
    skill = np.array([[bots.index(name) for name in speakers[each]] for each in conversations]) * 0.4 + 2.4
    side = skill + rng.normal(0, 0.7, (n, 2))
    who = (rng.integers(annotators, size=n)[:, None] + np.array([0, 1])) % annotators
    ratings = side[:, None, None, :] + rng.normal(0, 0.8, (n, 2, len(names), 2))
    points = np.clip(np.round(ratings), 1, 5).astype(int).tolist()
    annotations = [
        AnnotationOut.model_construct(
            id=UUID(int=2**90 + 2 * place + number),
            conversation_id=conversation,
            package_id=package,
            exchanges=5,
            right=None,
            judge=None,
            judge_labels=None,
            annotator=f"annotator-{who[place, number]}",
            annotator_kind=AnnotatorKind.PERSON,
            answer={name: dict(zip("AB", both, strict=True)) for name, both in zip(names, given, strict=True)},
            decisions=(),
            started_at=at,
            ended_at=at,
            elapsed_ms=60_000,
            reported_ms=None,
        )
        for place, conversation in enumerate(conversations)
        for number, given in enumerate(points[place])
    ]
    campaign = MeasuredCampaign(
        campaign_id=UUID(int=1),
        campaign="rated.likert",
        domain="everyday",
        complete=True,
        questions=questions,
        declared_headline="quality",
        annotations=annotations,
        packages={package: frozenset()},
        speakers=speakers,
        texts={},
        turns={},
        is_import=False,
    )
    (named,) = named_tasks("rated", [("rated.likert", names)], None)
    task = Task(named, "campaign", complete=True, campaign_id=campaign.campaign_id, protocol="dialogue_likert")
    study = StudyOut(
        id=UUID(int=3),
        name="rated",
        campaigns=(UUID(int=1),),
        chats=(),
        outcome="quality",
        seed=seed,
        scores=(),
        latency=False,
        created_at=at,
    )
    return study, task, campaign
