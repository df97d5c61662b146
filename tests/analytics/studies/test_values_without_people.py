"""Measures of a study that no annotator gives, over HTTP: scores of FED, and the seconds of bots' replies."""

import asyncio
import csv
import io
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.contracts.fed.score_jobs import ContextScoresOut, ScoreJobIn
from spotthebot.contracts.fed.scorers import DimensionSetRef, Level, ScorerIn
from spotthebot.contracts.turns import Turn
from tests.factories import tiny_models
from tests.factories.chat_studies import answers_to, create_study, import_chats, import_task, store_scores
from tests.factories.command_line import run_stb, stb_of_admin
from tests.factories.lazy_imports import needs_models
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

pytestmark = needs_models
SCORER = ScorerIn(model="gpt2", mode="followup_mean", dimension_set=DimensionSetRef(set="bipartite"))
SECONDS = {"ada": 0.5, "bob": 1.5, "cid": 4.0}
"""What a reply takes; each later turn takes a tenth of a second more."""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "conversations", "annotation", "analytics", "fed"


@pytest.fixture(scope="module")
def settings_of(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("models")
    tiny_models.gpt2(folder / "gpt2", positions=256)
    return {"fed": {"models_folder": folder, "device": "cpu"}}


def timed(chats: Sequence[ExportedConversation]) -> list[ExportedConversation]:
    """Return the chats with the seconds of each reply of a bot."""
    return [
        chat.model_copy(
            update={
                "turns": tuple(
                    turn.model_copy(
                        update={
                            "latency_ms": 1000 * SECONDS[chat.bots[1]] + 100 * at if turn.speaker == "B" else None,
                            "text": f"{turn.text} {chat.id} {at}",
                        }
                    )
                    for at, turn in enumerate(chat.turns)
                )
            }
        )
        for chat in chats
    ]


async def scored(suite: RunningSuite, collection: str, level: Level = "turn") -> UUID:
    fed = await suite.fed("admin")
    job = await fed.create_score_job(
        ScoreJobIn(collection_id=UUID(collection), scorer=SCORER, level=level, resamples=200)
    )
    async with asyncio.timeout(60):
        while (found := await fed.get_score_job(job.id)).state in {"queued", "running"}:
            await asyncio.sleep(0.1)
    assert found.state == "complete", found.failure
    return job.id


async def unfinished(suite: RunningSuite, collection: str) -> UUID:
    """Start a score job, cancel it, and return its id."""
    fed = await suite.fed("admin")
    job = await fed.create_score_job(ScoreJobIn(collection_id=UUID(collection), scorer=SCORER, level="dialogue"))
    await fed.cancel_score_job(job.id)
    return job.id


async def scores_of(suite: RunningSuite, score_set: UUID) -> list[ContextScoresOut]:
    return [each async for each in (await suite.fed("admin")).list_scores(score_set)]


async def get(suite: RunningSuite, study: str, what: str, role: str = "analyst", **params: Any) -> httpx.Response:
    client = await suite.client("analytics", role)
    return await client.get(f"/v1/studies/{study}/{what}", params=params)


async def refused(suite: RunningSuite, study: str, what: str = "measures") -> tuple[int, str]:
    answer = await get(suite, study, what)
    return answer.status_code, answer.json()["type"].rsplit(":", 1)[-1]


@dataclass(frozen=True)
class Measured:
    """A study of rated chats and of one task, with scores and seconds; and what it is made of."""

    study: str
    task: str
    collection: str
    scores: UUID


@pytest.fixture(scope="module")
def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services, which keep all rows: most tests read one study."""
    return module_suite


@pytest.fixture(scope="module")
async def measured(suite: RunningSuite) -> Measured:
    chats = timed(exported_chats(12))
    collection = await import_chats(suite, chats)
    answers = answers_to("dialogue_likert", chats)
    task = await import_task(suite, collection, "small.likert", "dialogue_likert", answers)
    scores = await scored(suite, collection)
    body: dict[str, Any] = {"chats": [collection], "outcome": "quality", "scores": [str(scores)], "latency": True}
    return Measured(await create_study(suite, [task], seed=11, **body), task, collection, scores)


async def other_study(suite: RunningSuite, measured: Measured, name: str, **settings: Any) -> str:
    """Create a study of the same chats and the same task."""
    return await create_study(suite, [measured.task], chats=[measured.collection], name=name, **settings)


class TestLatency:
    async def test_ranks_the_quickest_bot_first_with_intervals_for_other_conversations(
        self, suite: RunningSuite, measured: Measured
    ):
        found = (await get(suite, measured.study, "measures/latency")).json()
        assert (found["level"], found["better"], found["n"]) == ("turn", "lower", 24 * 3)
        # Replies are the turns 1, 3 and 5, which take 0.1, 0.3 and 0.5 s more.
        assert [(each["bot"], round(each["estimate"], 6)) for each in found["bots"]] == [
            (bot, pytest.approx(seconds + 0.3)) for bot, seconds in SECONDS.items()
        ]
        assert [(each["rank_low"], each["rank_high"]) for each in found["bots"]] == [(1, 1), (2, 2), (3, 3)]
        assert {each["uncertainty"]["clusters"] for each in found["bots"]} == {"conversation"}
        assert (found["alpha"]["estimate"], found["alpha"]["reason"]) == (None, "no annotator gives these values")
        modelled = (await get(suite, measured.study, "measures/latency", mixed_model="linear")).json()["mixed_model"]
        assert modelled["reason"] == "no annotator gives these values"
        assert (found["counts"]["annotators"], found["counts"]["annotations"]) == (0, 0)
        assert [each["name"] for each in found["speakers"]] == ["ada", "bob", "cid"]
        sources = (await get(suite, measured.study, "measures")).json()["sources"]
        assert [(each["task"], each["kind"]) for each in sources] == [
            ("likert", "campaign"),
            ("fed", "scores"),
            ("latency", "latency"),
            ("chats", "chats"),
        ]

    async def test_is_no_measure_of_a_study_that_does_not_ask_for_it(self, suite: RunningSuite, measured: Measured):
        study = await other_study(suite, measured, "plain")
        assert await refused(suite, study, "measures/latency") == (404, "no-such-measure")

    async def test_has_no_values_where_no_time_was_taken(self, suite: RunningSuite):
        collection = await import_chats(
            suite,
            [
                chat.model_copy(
                    update={"turns": tuple(turn.model_copy(update={"latency_ms": None}) for turn in chat.turns)}
                )
                for chat in exported_chats(2)
            ],
        )
        study = await create_study(suite, [], chats=[collection], outcome="quality", latency=True, name="untimed")
        found = (await get(suite, study, "measures/latency")).json()
        assert (found["n"], found["bots"], found["reason"]) == (0, [], "nobody answered")

    async def test_is_seen_by_no_team(self, suite: RunningSuite, measured: Measured):
        team = await suite.client("analytics", "team", team="one")
        assert (await team.get(f"/v1/studies/{measured.study}/measures/latency")).status_code == 403


class TestScores:
    async def test_are_measures_with_the_means_that_fed_has(self, suite: RunningSuite, measured: Measured):
        own: dict[str, list[float]] = defaultdict(list)
        for each in await scores_of(suite, measured.scores):
            own[each.bot].append(each.scores["overall"])
        found = (await get(suite, measured.study, "measures/fed_overall")).json()
        assert {each["bot"]: each["estimate"] for each in found["bots"]} == {
            bot: pytest.approx(fmean(values)) for bot, values in own.items()
        }
        assert (found["level"], found["lowest"], found["left_out"]) == ("turn", None, 0)
        every = (await get(suite, measured.study, "measures")).json()
        (source,) = [each for each in every["sources"] if each["kind"] == "scores"]
        assert (source["task"], source["score_set_id"], source["protocol"]) == ("fed", str(measured.scores), None)

    async def test_count_turns_after_the_opening_as_annotators_do(self, suite: RunningSuite):
        opening = (Turn(speaker="A", text="Hi."), Turn(speaker="B", text="Hello."))
        chats = [chat.model_copy(update={"opening": opening}) for chat in timed(exported_chats(2))]
        collection = await import_chats(suite, chats)
        scores = await scored(suite, collection)
        study = await create_study(suite, [], chats=[collection], scores=[str(scores)], latency=True, name="opened")
        rows = [*csv.DictReader(io.StringIO((await get(suite, study, "values")).text))]
        turns = {name: {row["turn"] for row in rows if row["dimension"] == name} for name in ("fed_overall", "latency")}
        assert turns["fed_overall"] == turns["latency"] == {"1", "3", "5"}

    async def test_have_the_name_of_their_task_before_them_where_two_sets_share_a_dimension(
        self, suite: RunningSuite, measured: Measured
    ):
        sets = [measured.scores, await scored(suite, measured.collection, "dialogue")]
        study = await other_study(suite, measured, "twice scored", scores=[*map(str, sets)])
        found = {each["name"]: each for each in (await get(suite, study, "measures")).json()["measures"]}
        assert (found["fed.fed_overall"]["level"], found["fed-2.fed_overall"]["level"]) == ("turn", "dialogue")
        assert found["fed-2.fed_overall"]["n"] == 24

    async def test_are_assessed_without_alpha_as_their_table_is(
        self, suite: RunningSuite, measured: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        assessed = (await get(suite, measured.study, "assessment")).json()
        found = {each["name"]: each for each in assessed["measures"]}
        for name in ("fed_overall", "latency"):
            assert found[name]["r2"] is not None
            assert found[name]["pairs_told_apart"].keys() == {"0.1", "0.05", "0.01"}
            assert "clustered by conversation, " in found[name]["pairs_method"]
            assert found[name]["alpha"]["estimate"] is None
            assert found[name]["alpha"]["reason"] == "no annotator gives these values"
            assert found[name]["minutes"] is None
        assert found["latency"]["pairs_told_apart"]["0.01"] == 3
        assert not any("let two or more rate" in each and "latency" in each for each in assessed["sentences"])
        table = tmp_path / "values.csv"
        table.write_text((await get(suite, measured.study, "values")).text)
        rows = [*csv.DictReader(table.read_text().splitlines())]
        computed = [row for row in rows if row["dimension"] in {"latency", "fed_overall"}]
        assert {(row["annotator"], row["annotator_kind"]) for row in computed} == {("", "")}
        options = ("--assess", "quality", "--seed", "11", "--yes", "--json", tmp_path / "j")
        ran = await asyncio.to_thread(run_stb, "analyse", "table", table, *options)
        assert ran.returncode == 0, ran.stderr
        read = json.loads((tmp_path / "j").read_text())
        assert read["rejected"] == []
        for name in ("measures", "stepwise", "keep", "sentences"):
            assert read[name] == assessed[name]
        async with stb_of_admin(suite, monkeypatch) as stb:
            ranked = await stb("rank", "small", "--measure", "fed_overall")
            assert ranked.returncode == 0, ranked.stderr
            assert "fed_overall" in ranked.stdout
            reported = await stb("report", "small", "--out", tmp_path / "report")
            assert reported.returncode == 0, reported.stderr
        page = (tmp_path / "report" / "report.html").read_text()
        assert "FED scored the bots, without annotators" in page
        assert "latency" in page

    async def test_are_refused_where_their_set_is_unknown_unfinished_or_of_other_conversations(
        self, suite: RunningSuite, measured: Measured
    ):
        study = await other_study(suite, measured, "wrongly scored")
        other = await import_conversations(suite, [conversation(f"o{at}", "x", "y") for at in range(2)])
        await _replace(suite, study, scores=[str(await scored(suite, other))])
        assert await refused(suite, study) == (409, "scores-apart")
        store_scores(suite, study, uuid4())
        assert await refused(suite, study) == (404, "no-such-scores")
        store_scores(suite, study, await unfinished(suite, other))
        assert await refused(suite, study) == (409, "scores-unfinished")

    async def test_are_refused_as_a_study_is_stored_where_their_set_is_unknown_or_unfinished(
        self, suite: RunningSuite, measured: Measured
    ):
        known, unknown, collection = measured.scores, uuid4(), measured.collection
        admin = await suite.client("annotation", "admin")
        there = (await admin.get("/v1/studies")).json()
        for at, (status, problem, sentence) in {
            unknown: (422, "unknown-scores", f"There is no score set {unknown}: name the id of a complete score job"),
            await unfinished(suite, collection): (409, "scores-unfinished", "is not complete: wait for it"),
        }.items():
            body = {"name": "other", "campaigns": [], "chats": [collection], "scores": [str(known), str(at)]}
            for answer in (
                await admin.post("/v1/studies", json=body),
                await admin.put(f"/v1/studies/{measured.study}", json=body),
            ):
                found = answer.json()
                assert (answer.status_code, found["type"].rpartition(":")[2]) == (status, problem)
                assert sentence in found["detail"]
                assert [each["pointer"] for each in found["errors"]] == ["/scores/1"]
        assert (await admin.get("/v1/studies")).json() == there

    async def test_are_checked_by_the_dry_run_of_a_file(
        self, suite: RunningSuite, measured: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        known, unknown, collection = measured.scores, uuid4(), measured.collection
        file = tmp_path / "study.yaml"
        async with stb_of_admin(suite, monkeypatch) as stb:
            file.write_text(f"name: s\nchats: [{collection}]\nscores:\n- {known}\n- {unknown}\n")
            refused = await stb("study", file, "--dry-run")
            assert refused.returncode == 2
            assert f"line 5: scores[1]: There is no score job {unknown}." in refused.stderr
            file.write_text(f"name: s\nchats: [{collection}]\nscores: [{known}]\n")
            assert (await stb("study", file)).returncode == 0
            assert "Nothing was changed." in (await stb("study", file)).stderr
            assert "fed_overall" in (await stb("rank", "s", "--measure", "fed_overall")).stdout


async def _replace(suite: RunningSuite, study: str, **changes: Any) -> None:
    admin = await suite.client("annotation", "admin")
    there = (await admin.get(f"/v1/studies/{study}")).json()
    body = {name: value for name, value in there.items() if name not in {"id", "created_at"}} | changes
    answer = await admin.put(f"/v1/studies/{study}", json=body)
    assert answer.status_code == 200, answer.text
