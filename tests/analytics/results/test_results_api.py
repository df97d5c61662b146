import asyncio
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from sqlalchemy import text

from spotthebot.analytics.clients.campaign_data import load_campaign, load_campaign_async
from spotthebot.analytics.clients.errors import NoSuchCampaign
from spotthebot.analytics.kept_results import store as results_store
from spotthebot.analytics.labels.domain import LabelledCampaign, take_sample
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import SECTIONS, Section, compute_section
from spotthebot.clients import Annotation, AsyncAnnotation, AsyncConversations, Conversations
from spotthebot.contracts.analytics.provenance import Provenance
from spotthebot.kit.database.sessions import Database
from tests.factories.annotating import WHOLE
from tests.factories.campaigns import import_campaign, imported_annotation
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations

# Three conversations X-Y, one X-Z, one of people; k = exchanges seen. Worked by hand:
# X:Y   games: human>bot (X wins), unsure>bot (X wins), bot=bot (tie), bot<human (Y wins)  -> 2 wins, 1 loss, 1 tie
# X:Z   human=human (tie)                                                                  -> 0 wins, 0 losses, 1 tie
CONVERSATIONS = [
    conversation("xy1", "X", "Y"),
    conversation("xy2", "X", "Y"),
    conversation("xy3", "X", "Y"),
    conversation("xz1", "X", "Z"),
    conversation("hh1", "HU", "HU"),
]
ANNOTATIONS = [
    ("xy1", 1, "ann", "human", "bot"),
    ("xy2", 1, "ann", "unsure", "bot"),
    ("xy3", 1, "ann", "bot", "bot"),
    ("xz1", 1, "ann", "human", "human"),
    ("hh1", 1, "ann", "human", "human"),
    ("xy1", 1, "bob", "bot", "human"),  # bob left the package unfinished
]
SHOWN = {"p": [(key, 1) for key in ("xy1", "xy2", "xy3", "xz1", "hh1")]}


@pytest.fixture(scope="module")
def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services, which keep all rows: most tests read one campaign."""
    return module_suite


@pytest.fixture(scope="module")
async def campaign(suite: RunningSuite) -> str:
    return await _study(suite)


async def _study(suite: RunningSuite, annotations: list[tuple[Any, ...]] = ANNOTATIONS, *, seed: int = 0) -> str:
    collection = await import_conversations(suite, CONVERSATIONS)
    rows = [_row(number, *annotation) for number, annotation in enumerate(annotations)]
    path = await import_campaign(suite, collection, SHOWN, rows, seed=seed)
    return path.rpartition("/")[2]


def _row(number: int, key: str, exchanges: int, annotator: str, first: str, second: str) -> dict[str, Any]:
    answer = WHOLE | {"entity": {"A": first, "B": second}}
    change = {"conversation": key, "exchanges": exchanges, "annotator": annotator, "answer": answer}
    return imported_annotation(f"a{number}", **change)


def _count_computations(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count by section how often a result is computed."""
    computed: Counter[str] = Counter()

    def count(section: Section, study: LabelledCampaign, parameters: Parameters) -> Provenance:
        computed[section.key] += 1
        return compute_section(section, study, parameters)

    monkeypatch.setattr("spotthebot.analytics.results.use_cases.result_cache.compute_section", count)
    return computed


async def _get(suite: RunningSuite, campaign: str, result: str, **params: Any) -> httpx.Response:
    analyst = await suite.client("analytics", "analyst")
    return await analyst.get(f"/v1/campaigns/{campaign}/{result}", params=params)


class TestResults:
    async def test_wins_losses_and_ties_are_those_counted_by_hand(self, suite: RunningSuite, campaign: str):
        everything = (await _get(suite, campaign, "win-rates", filter="none")).json()
        pairs = {(p["bot"], p["other"]): (p["wins"], p["losses"], p["ties"]) for p in everything["win_rates"]["pairs"]}
        assert pairs["X", "Y"] == (2, 1, 1)
        assert pairs["X", "Z"] == (0, 0, 1)
        rates = {each["bot"]: each["win_rate"] for each in everything["win_rates"]["bots"]}
        assert rates == {"X": pytest.approx(2 / 3), "Y": pytest.approx(1 / 3), "Z": None}
        assert everything["counts"] == {
            "conversations": 5,
            "annotated_conversations": 5,
            "annotations": 6,
            "annotators": 2,
            "segments": 5,
            "simulated_annotators": 0,
            "judges": 0,
        }

    async def test_a_program_of_one_s_own_reads_what_the_service_reads(self, suite: RunningSuite, campaign: str):
        campaign_id, key = UUID(campaign), await suite.keys.make("admin")
        urls = suite.urls["annotation"], suite.urls["conversations"]

        def load(campaign_id: UUID) -> LabelledCampaign:
            with Annotation(urls[0], key) as annotation, Conversations(urls[1], key) as conversations:
                return load_campaign(annotation, conversations, campaign_id)

        async with AsyncAnnotation(urls[0], key) as annotation, AsyncConversations(urls[1], key) as conversations:
            study = await load_campaign_async(annotation, conversations, campaign_id)
        assert await asyncio.to_thread(load, campaign_id) == study
        served = (await _get(suite, campaign, "win-rates")).json()["data_sha256"]
        assert take_sample(study, "complete_packages").sha256 == served
        with pytest.raises(NoSuchCampaign):
            await asyncio.to_thread(load, uuid4())

    async def test_unfinished_packages_do_not_count(self, suite: RunningSuite, campaign: str):
        filtered = (await _get(suite, campaign, "win-rates")).json()
        pairs = {(p["bot"], p["other"]): (p["wins"], p["losses"], p["ties"]) for p in filtered["win_rates"]["pairs"]}
        assert pairs["X", "Y"] == (2, 0, 1)
        assert filtered["counts"]["annotations"] == 5
        assert filtered["counts"]["annotators"] == 1

    async def test_a_segment_of_one_exchange_is_worth_the_logarithm_of_1_if_asked(
        self, suite: RunningSuite, campaign: str
    ):
        # Of three conversations X won one, the two others are ties. By log(i), a segment of one exchange is worth 0.
        found = {}
        for weighting in ("exchanges", "log_exchanges", "log_turns"):
            asked = {"filter": "none", "unit": "conversation", "weighting": weighting}
            result = (await _get(suite, campaign, "win-rates", **asked)).json()
            assert result["weighting"] == weighting
            (pair,) = [each for each in result["win_rates"]["pairs"] if (each["bot"], each["other"]) == ("X", "Y")]
            found[weighting] = tuple(pair[each] for each in ("wins", "ties", "win_rate", "win_rate_with_ties"))
        won = (1, 2, 1.0, pytest.approx(1 / 3))
        assert found == {"exchanges": won, "log_exchanges": (0, 3, None, 0.0), "log_turns": won}

    async def test_weak_annotators_are_those_below_the_thresholds_of_the_request(
        self, suite: RunningSuite, campaign: str
    ):
        # Of 9 labels but "unsure", ann has 6 right: 4 bots as "bot", 2 people as "human".
        result = (await _get(suite, campaign, "annotators", weak_thresholds=[0.5, 0.75])).json()
        assert result["weak_thresholds"] == [0.5, 0.75]
        without = result["annotators"]["without_weak"]
        assert [(each["threshold"], each["annotators"]) for each in without] == [(0.5, 1), (0.75, 0)]
        assert (await _get(suite, campaign, "annotators", weak_thresholds=[75])).status_code == 422

    async def test_a_segment_goes_to_who_got_the_better_labels_in_all(self, suite: RunningSuite, campaign: str):
        # xy1: X human and bot, Y bot and human: 2 + 0 against 0 + 2 points, a tie. xy2: X wins. xy3: a tie.
        shown = (await _get(suite, campaign, "win-rates", filter="none", unit="segment")).json()
        pairs = {(p["bot"], p["other"]): (p["wins"], p["losses"], p["ties"]) for p in shown["win_rates"]["pairs"]}
        assert pairs["X", "Y"] == (1, 0, 2)
        assert shown["unit"] == "segment"

    async def test_survival_and_fooling_rates_are_shares_of_labels(self, suite: RunningSuite, campaign: str):
        survival = (await _get(suite, campaign, "survival")).json()["survival"]
        curves = {curve["bot"]: curve["survival"] for curve in survival["curves"]}
        assert survival["times"] == [1]
        assert curves["X"] == [pytest.approx(3 / 4)]  # human, unsure, bot, human: one of four spotted
        assert curves["HU"] == [1.0]
        rates = {each["bot"]: each for each in (await _get(suite, campaign, "fooling-rates")).json()["fooling_rates"]}
        assert (rates["X"]["human"], rates["X"]["unsure"], rates["X"]["bot_labels"]) == (2, 1, 1)
        assert rates["X"]["rate"] == pytest.approx(1 / 2)

    async def test_the_ranking_says_what_it_does_not_know(self, suite: RunningSuite, campaign: str):
        ranking = (await _get(suite, campaign, "ranking")).json()["ranking"]
        assert [bot["bot"] for bot in ranking["bots"]] == ["X", "Y", "Z"]
        unknown = ranking["bots"][2]["win_rate"]
        assert (unknown["estimate"], unknown["low"], unknown["high"]) == (None, None, None)
        assert unknown["uncertainty"]["reason"] == "nothing was observed"

    async def test_the_same_request_gives_the_same_bytes(self, suite: RunningSuite, campaign: str):
        for result in (*SECTIONS, "analysis"):
            first, again = [(await _get(suite, campaign, result, seed=5, resamples=200)).content for _ in range(2)]
            assert first == again, result
            assert json.loads(first)["data_sha256"], result

    async def test_a_campaign_that_is_not_closed_is_preliminary(self, suite: RunningSuite):
        campaign = await _study(suite)
        assert (await _get(suite, campaign, "win-rates")).json()["preliminary"] is True
        admin = await suite.client("annotation", "admin")
        await admin.post(f"/v1/campaigns/{campaign}/close")
        assert (await _get(suite, campaign, "win-rates")).json()["preliminary"] is False

    async def test_absurd_parameters_are_refused(self, suite: RunningSuite, campaign: str):
        for parameter, value in (
            ("resamples", 0),
            ("resamples", 10_000_000),
            ("confidence_level", 1.2),
            ("filter", "x"),
            ("unit", "y"),
        ):
            answer = await _get(suite, campaign, "ranking", **{parameter: value})
            assert answer.status_code == 422, (parameter, value)
            assert [fault["parameter"] for fault in answer.json()["errors"]] == [parameter]

    async def test_nothing_to_analyse_is_said(self, suite: RunningSuite):
        campaign = await _study(suite, [])
        answer = await _get(suite, campaign, "ranking")
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:nothing-annotated")
        unknown = await _get(suite, "00000000-0000-7000-8000-000000000000", "ranking")
        assert (unknown.status_code, unknown.json()["type"]) == (404, "urn:spotthebot:problem:no-such-campaign")

    async def test_refuses_a_campaign_in_which_no_package_is_finished(self, suite: RunningSuite):
        campaign = await _study(suite, ANNOTATIONS[-1:])
        answer = await _get(suite, campaign, "win-rates")
        assert (answer.status_code, "none of the 1 annotations" in answer.text) == (409, True)
        assert (await _get(suite, campaign, "win-rates", filter="none")).status_code == 200

    async def test_one_bot_alone_cannot_be_ranked(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("xh", "X", "HU")])
        rows = [_row(0, "xh", 1, "ann", "human", "human")]
        path = await import_campaign(suite, collection, {"p": [("xh", 1)]}, rows)
        campaign = path.rpartition("/")[2]
        for result in ("ranking", "win-rates"):
            answer = await _get(suite, campaign, result)
            assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:one-bot-only")
        rates = (await _get(suite, campaign, "fooling-rates")).json()["fooling_rates"]
        assert [(each["bot"], each["rate"]) for each in rates] == [("X", 1.0), ("HU", 1.0)]

    async def test_people_alone_cannot_be_ranked(self, suite: RunningSuite):
        campaign = await _study(suite, [("hh1", 1, "ann", "human", "bot")])
        answer = await _get(suite, campaign, "ranking", filter="none")
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:one-bot-only")


class TestSeed:
    async def test_is_the_campaigns_where_the_request_names_none(self, suite: RunningSuite):
        campaign = await _study(suite, seed=5)
        of_campaign, fifth, sixth = [
            (await _get(suite, campaign, "ranking", filter="none", **more)).json()
            for more in ({}, {"seed": 5}, {"seed": 6})
        ]
        assert of_campaign == fifth
        assert of_campaign["seed"] == 5
        assert of_campaign["ranking"] != sixth["ranking"]  # TrueSkill plays its matches in another order


class TestResultCache:
    async def test_answers_304_to_a_caller_who_has_the_result(self, suite: RunningSuite, campaign: str):
        first = await _get(suite, campaign, "ranking")
        analyst = await suite.client("analytics", "analyst")
        path = f"/v1/campaigns/{campaign}/ranking"
        again = await analyst.get(path, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        other = await analyst.get(path, params={"seed": 1}, headers={"If-None-Match": first.headers["ETag"]})
        assert other.status_code == 200

    async def test_computes_a_result_once_until_the_annotations_change(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        computed = _count_computations(monkeypatch)
        campaign = await _study(suite, ANNOTATIONS[:5])
        answers = [(await _get(suite, campaign, "win-rates")).json() for _ in range(3)]
        assert computed.total() == 1
        admin = await suite.client("annotation", "admin")
        rows = {"annotations": [_row(9, *ANNOTATIONS[0][:2], "cat", "bot", "human")]}
        await created(admin, f"/v1/campaigns/{campaign}/annotations", rows)
        changed = (await _get(suite, campaign, "win-rates", filter="none")).json()
        assert computed.total() == 2
        assert changed["counts"]["annotations"] == answers[0]["counts"]["annotations"] + 1

    async def test_deletes_results_of_earlier_annotations(self, suite: RunningSuite):
        campaign = await _study(suite, ANNOTATIONS[:5])
        for seed in range(3):
            await _get(suite, campaign, "win-rates", seed=seed)
        admin = await suite.client("annotation", "admin")
        await admin.post(f"/v1/campaigns/{campaign}/close")
        await _get(suite, campaign, "win-rates")
        database = Database(suite.database.app["analytics"], pool_size=1)
        async with database.read() as session:
            statement = text("SELECT count(*) FROM analytics.results WHERE subject_id = :id")
            kept = (await session.execute(statement, {"id": campaign})).scalar_one()
        await database.close()
        assert kept == 1

    async def test_keeps_a_limited_number_of_results(self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(results_store, "MAX_KEPT", 2)
        campaign = await _study(suite)
        first, *_ = [(await _get(suite, campaign, "time", seed=seed)).content for seed in range(4)]
        database = Database(suite.database.app["analytics"], pool_size=1)
        async with database.read() as session:
            statement = text("SELECT count(*) FROM analytics.results WHERE subject_id = :id")
            kept = (await session.execute(statement, {"id": campaign})).scalar_one()
        await database.close()
        assert kept == 2
        assert (await _get(suite, campaign, "time", seed=0)).content == first

    async def test_computes_once_for_equal_requests_at_the_same_time(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        computed = _count_computations(monkeypatch)
        campaign = await _study(suite)
        answers = await asyncio.gather(*(_get(suite, campaign, "ranking", resamples=2000) for _ in range(6)))
        assert len({each.content for each in answers}) == computed.total() == 1

    async def test_holds_every_section_in_the_document(self, suite: RunningSuite, campaign: str):
        asked = {"seed": 5, "resamples": 200}
        document = (await _get(suite, campaign, "analysis", **asked)).json()
        for path, section in SECTIONS.items():
            assert document[section.key] == (await _get(suite, campaign, path, **asked)).json()[section.key]


class TestRecentResults:
    async def test_results_of_a_running_campaign_say_their_moment_and_those_of_one_that_has_ended_are_of_now(
        self, suite: RunningSuite
    ):
        campaign = await _study(suite)
        began = datetime.now(UTC)
        recent = (await _get(suite, campaign, "ranking", recent=True)).json()
        assert began <= datetime.fromisoformat(recent["as_of"]) <= datetime.now(UTC)
        assert recent | {"as_of": None} == (await _get(suite, campaign, "ranking")).json()
        figure = (await _get(suite, campaign, "figures/ranking", recent=True)).json()
        moment = datetime.fromisoformat(figure["usermeta"]["as_of"])
        assert moment >= began
        assert f"as of {moment:%Y-%m-%d %H:%M:%S} UTC" in " ".join(figure["title"]["subtitle"])
        admin = await suite.client("annotation", "admin")
        await admin.post(f"/v1/campaigns/{campaign}/close")
        for path in ("ranking", "figures/ranking"):
            closed = [(await _get(suite, campaign, path, recent=each)).content for each in (True, False)]
            assert closed[0] == closed[1]

    async def test_are_of_the_state_before_while_the_next_is_not_asked_for(self, suite: RunningSuite):
        campaign = await _study(suite, ANNOTATIONS[:-1])
        before = (await _get(suite, campaign, "ranking", filter="none", recent=True)).json()
        admin = await suite.client("annotation", "admin")
        row = _row(9, *ANNOTATIONS[-1])
        await created(admin, f"/v1/campaigns/{campaign}/annotations", {"annotations": [row]})
        after = (await _get(suite, campaign, "ranking", filter="none", recent=True)).json()
        late = datetime.now(UTC) - datetime.fromisoformat(before["as_of"]) > timedelta(seconds=15)
        assert after == before or late
        assert after["counts"]["annotations"] == 5 or late
        assert (await _get(suite, campaign, "ranking", filter="none")).json()["counts"]["annotations"] == 6
        analyst = await suite.client("analytics", "analyst")
        tables = [
            await analyst.get(
                f"/v1/campaigns/{campaign}/ranking",
                params={"filter": "none", "recent": recent},
                headers={"Accept": "text/csv"},
            )
            for recent in (True, False)
        ]
        assert tables[0].content == tables[1].content

    @pytest.mark.parametrize("path", ["ranking", "figures/ranking"])
    async def test_are_for_analysts_of_campaigns_that_are_there(self, suite: RunningSuite, path: str):
        assert (await _get(suite, str(uuid4()), path, recent=True)).status_code == 404
        team = await suite.client("analytics", "team")
        assert (await team.get(f"/v1/campaigns/{uuid4()}/{path}", params={"recent": True})).status_code == 403


class TestFigures:
    async def test_come_as_specs_svg_pdf_and_png_by_suffix_and_by_accept(self, suite: RunningSuite, campaign: str):
        analyst = await suite.client("analytics", "analyst")
        path = f"/v1/campaigns/{campaign}/figures/ranking"
        kinds = {".json": "application/vnd.vegalite.v6+json", ".svg": "image/svg+xml", ".png": "image/png"}
        kinds[".pdf"] = "application/pdf"
        for suffix, kind in kinds.items():
            by_suffix = await analyst.get(f"{path}{suffix}", params={"filter": "none"})
            assert (by_suffix.status_code, by_suffix.headers["Content-Type"]) == (200, kind)
            by_accept = await analyst.get(path, params={"filter": "none"}, headers={"Accept": kind})
            assert by_accept.headers["Content-Type"] == kind
            assert suffix == ".pdf" or by_accept.content == by_suffix.content
        assert by_suffix.content.startswith(b"%PDF-")
        spec = (await analyst.get(path, params={"filter": "none"})).json()
        assert "vega-lite" in spec["$schema"]

    async def test_are_drawn_for_a_dark_page_and_for_a_phone_with_the_marks_that_all_results_have(
        self, suite: RunningSuite, campaign: str
    ):
        spec = (await _get(suite, campaign, "figures/ranking", theme="dark", width="narrow")).json()
        marks = spec["usermeta"]["speakers"]
        assert (spec["usermeta"]["theme"], spec["usermeta"]["width"]) == ("dark", "narrow")
        assert [(each["name"], each["place"]) for each in marks] == [("X", 1), ("Y", 2), ("Z", 3), ("HU", None)]
        assert marks == (await _get(suite, campaign, "fooling-rates", filter="none")).json()["speakers"]
        refused = await _get(suite, campaign, "figures/ranking", theme="pink")
        assert refused.status_code == 422
        assert "'light' or 'dark'" in refused.text

    async def test_refuses_an_unknown_figure_and_names_the_known_ones(self, suite: RunningSuite, campaign: str):
        answer = await _get(suite, campaign, "figures/pie.svg")
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:spotthebot:problem:no-such-figure")
        assert "win-matrix" in answer.json()["detail"]
        missing = await _get(suite, campaign, "figures/stability")
        assert (missing.status_code, missing.json()["type"]) == (409, "urn:spotthebot:problem:stability-not-computed")
