"""Results of studies from their tasks, held against the results of the campaigns and worked by hand."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from spotthebot.analytics.chats.domain import RatedChats
from spotthebot.analytics.measures.domain.measures import all_measures, one_measure
from spotthebot.analytics.measures.errors import TooManyValues
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.studies.domain import (
    add_values,
    find_measure,
    require_measures,
    require_outcome,
    study_assessment,
    task_measure,
    task_measures,
)
from spotthebot.analytics.studies.errors import (
    NothingMeasured,
    OutcomeNotRated,
    TooManyMeasures,
    TooMuchToAssess,
)
from spotthebot.analytics.tasks.domain import NamedTask, Origin, RatedSample, Task, named_tasks
from spotthebot.analytics.values.domain.assessed_values import preferences_of
from spotthebot.analytics.values.domain.value_table import ValueTable
from spotthebot.analytics.values.domain.values import MeasuredSample
from spotthebot.contracts.annotation.measures import ShownTurns
from spotthebot.contracts.annotation.studies import StudyOut
from tests.factories.measured_campaigns import answered, measured_campaign
from tests.factories.rated_chats import rated_chat

ANY = Parameters(filter="none")
STUDY = StudyOut(
    id=UUID(int=1),
    name="small",
    campaigns=(UUID(int=7),),
    chats=(),
    outcome="quality",
    seed=3,
    scores=(),
    latency=False,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)
SPEAKERS = {1: ("HU", "ada"), 2: ("HU", "bob"), 3: ("HU", "ada"), 4: ("HU", "cid")}
QUALITY = {1: 4, 2: 2, 3: 5, 4: 3}


def _likert() -> MeasuredSample:
    annotations = [
        answered(each, who, {"quality": {"A": 5, "B": points}})
        for each, points in QUALITY.items()
        for who in ("ann", "ben")
    ]
    return _sample("dialogue_likert", annotations)


def _facts() -> MeasuredSample:
    """ada and the others speak the turns 1 and 3; ann says that 1 has a fact."""
    annotations = [
        answered(each, "ann", {"facts": {str(turn): "no" if turn > 1 else "yes" for turn in range(4)}})
        for each in SPEAKERS
    ]
    return _sample("factual_behaviour", annotations, turns={each: ShownTurns("ABAB", 0, 0) for each in SPEAKERS})


def _compared() -> MeasuredSample:
    """The dialogue 2 is compared with both others."""
    annotations = [
        answered(one, who, {"quality": side}, right=other)
        for one, other, side in ((1, 2, "A"), (2, 4, "B"), (3, 4, "tie"))
        for who in ("ann", "ben")
    ]
    return _sample("comparative", annotations)


def _sample(protocol: str, annotations: Any, **more: Any) -> MeasuredSample:
    return MeasuredSample.take(measured_campaign(protocol, SPEAKERS, annotations, **more), "none")


def _chats(*texts: str) -> RatedChats:
    ratings = [
        rated_chat(1, "eve", {1: ("ada", {"quality": 4}), 2: ("bob", {"quality": 2})}, preferred=1),
        rated_chat(2, "fay", {3: ("ada", {"quality": 5}), 4: ("cid", {"quality": 4})}, preferred=3),
    ]
    shown = {UUID(int=at): text for at, text in enumerate(texts, start=1)}
    return RatedChats("everyday", complete=False, asked={}, ratings=ratings, texts=shown)


def _tasks(**samples: RatedSample) -> list[tuple[Task, RatedSample]]:
    chats = samples.get("chats")
    named = named_tasks(
        STUDY.name,
        [(name, [*each.measures]) for name, each in samples.items() if name != "chats"],
        None if chats is None else [*chats.measures],
    )
    return [
        (
            Task(names, "chats", complete=False)
            if names.task == "chats"
            else Task(names, "campaign", complete=True, campaign_id=UUID(int=7)),
            each,
        )
        for names, each in zip(named, samples.values(), strict=True)
    ]


def _table(tasks: list[tuple[Task, RatedSample]]) -> tuple[ValueTable, list[Origin]]:
    table = ValueTable(pairs_named=True)
    return table, [add_values(STUDY, table, task, sample) for task, sample in tasks]


class TestTasks:
    def test_have_the_campaign_s_results_and_the_study_s_names(self):
        ((task, sample),) = _tasks(likert=_likert())
        assert isinstance(sample, MeasuredSample)
        origin, measures = task_measures(task, sample, ANY)
        own = all_measures(sample.campaign, ANY).measures
        assert [each.model_dump(exclude={"name", "task"}) for each in measures] == [each.model_dump() for each in own]
        assert {(each.name, each.task) for each in measures} >= {("quality", "likert")}
        assert (origin.source.annotations, origin.source.annotators, origin.sha256) == (8, 2, sample.sha256)

    def test_answer_for_one_measure_under_the_study_s_name(self):
        sample = _likert()
        own = one_measure(sample.campaign, "quality", ANY)
        assert task_measure("quality", "likert.quality", sample, ANY) == own.model_copy(
            update={"measure": "likert.quality"}
        )

    def test_order_the_bots_of_chats_by_quality(self):
        found = task_measure("preferred", "preferred", _chats(), ANY)
        assert [each.name for each in found.speakers] == ["ada", "cid", "bob"]
        assert (found.campaign_id, found.campaign, found.domain, found.preliminary) == (None, "chats", "everyday", True)
        assert {each.bot: each.estimate for each in found.bots} == {"ada": 1, "bob": 0, "cid": 0}

    def test_are_found_by_the_study_s_names(self):
        tasks = [task for task, _ in _tasks(likert=_likert(), compared=_compared())]
        assert find_measure(STUDY, tasks, "compared.quality") == (tasks[1], "quality")

    def test_are_of_the_first_task_where_several_have_the_name(self):
        tasks = [task for task, _ in _tasks(likert=_likert(), compared=_compared())]
        assert find_measure(STUDY, tasks, "quality") == (tasks[0], "quality")
        assert require_outcome(STUDY.model_copy(update={"outcome": "quality"}), tasks) == "likert.quality"
        of_chats = [task for task, _ in _tasks(likert=_likert(), compared=_compared(), chats=_chats())]
        assert find_measure(STUDY, of_chats, "quality") == (of_chats[2], "quality")


class TestTable:
    def test_has_one_dialogue_for_each_bot_of_a_conversation_in_all_tasks(self):
        table, _ = _table(_tasks(likert=_likert(), facts=_facts(), compared=_compared(), chats=_chats()))
        measures, quality, dialogues = table.measured("quality")
        by_name = {each.name: each for each in measures}
        assert dialogues.bots == ("ada", "bob", "cid")
        assert dialogues.bot.tolist() == [0, 1, 0, 2]
        for name in ("likert.quality", "facts:yes", "compared.quality", "preferred"):
            assert np.unique(by_name[name].dialogue).tolist() == [0, 1, 2, 3]
        assert quality.value.tolist() == [4, 2, 5, 4]
        assert by_name["facts:yes"].level == "turn"

    def test_keeps_comparisons_that_share_a_dialogue(self):
        table, _ = _table(_tasks(compared=_compared()))
        _, found, dialogues = table.measured("quality")
        first, _ = preferences_of(found, dialogues) or (np.array([]), None)
        assert len(first) == 6

    def test_joins_conversations_with_one_text_in_any_task(self):
        likert = replace(_likert(), campaign=replace(_likert().campaign, texts={UUID(int=1): "x", UUID(int=3): "x"}))
        table, _ = _table(_tasks(likert=likert, chats=_chats("a", "b", "c", "b")))
        assert table.measured("quality")[2].text.tolist() == [0, 1, 0, 1]

    def test_is_limited(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("spotthebot.analytics.measures.domain.measures.MAX_VALUES", 7)
        with pytest.raises(TooManyValues, match="'small' has more than 7 values"):
            _table(_tasks(likert=_likert()))


class TestAssessment:
    def test_says_what_it_is_of(self):
        table, origins = _table(_tasks(likert=_likert(), chats=_chats()))
        found = study_assessment(STUDY, origins, table, "quality", ANY)
        assert (found.study, found.dialogues, found.bots) == ("small", 4, ("ada", "bob", "cid"))
        assert [(each.task, each.annotations) for each in found.sources] == [("likert", 8), ("chats", 2)]
        assert found.preliminary
        assert [each.name for each in found.measures] == ["likert.quality", "preferred"]
        assert found.measures[0].r2 == pytest.approx(np.corrcoef([4, 2, 5, 3], [4, 2, 5, 4])[0, 1] ** 2)

    def test_has_a_fingerprint_of_all_tasks(self):
        tasks = _tasks(likert=_likert(), chats=_chats())
        fingerprints = set()
        for chosen in (tasks, tasks[1:]):
            table, origins = _table(chosen)
            table.add("other", _likert().rated("quality"))
            fingerprints.add(study_assessment(STUDY, origins, table, "quality", ANY).data_sha256)
        assert len(fingerprints) == 2

    def test_is_refused_where_nobody_rated_anything(self):
        with pytest.raises(OutcomeNotRated, match=r"so far: wait for ratings[.]$"):
            study_assessment(STUDY, [], ValueTable(pairs_named=True), "quality", ANY)

    def test_is_refused_for_too_many_tests(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("spotthebot.analytics.studies.domain.MAX_TESTS", 5)
        table, origins = _table(_tasks(likert=_likert(), chats=_chats()))
        with pytest.raises(
            TooMuchToAssess, match="has 6 pairs of bots to be tested by all measures, and at most 5 can"
        ):
            study_assessment(STUDY, origins, table, "quality", ANY)


class TestMeasures:
    def test_are_refused_where_there_are_none(self):
        with pytest.raises(NothingMeasured):
            require_measures(STUDY, [])

    def test_are_refused_where_they_are_too_many(self):
        names = NamedTask("likert", {str(at): str(at) for at in range(1001)})
        with pytest.raises(TooManyMeasures, match="'small' has 1001 measures, and results hold at most 1000"):
            require_measures(STUDY, [Task(names, "campaign", complete=True)])
