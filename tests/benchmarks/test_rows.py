"""Every benchmark runs, at toy sizes: what it measures then means nothing, but a row that has rotted fails."""

import importlib
import os
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from anyio.from_thread import start_blocking_portal

from benchmarks import command
from benchmarks.analytics import importance
from benchmarks.analytics.coverage import chats, decisions, pooled, rank_correlations, strata
from benchmarks.analytics.coverage.__main__ import GROUPS, count_cell
from benchmarks.analytics.judges import __main__ as judges
from benchmarks.analytics.judges import replays as judged_replays
from benchmarks.analytics.judges.campaigns import GRID as JUDGED_GRID
from benchmarks.analytics.judges.campaigns import Setting as JudgedSetting
from benchmarks.analytics.judges.campaigns import draw_campaign, truth_of
from benchmarks.analytics.judges.cells import KINDS
from benchmarks.analytics.judges.judges import JUDGES
from benchmarks.analytics.judges.preferences import truth_of_pairs
from benchmarks.analytics.power import __main__ as pair_power
from benchmarks.analytics.power import cells, coefficients, mixed_models, rated_studies, rating_plans
from benchmarks.analytics.power import ratings as rating_power
from benchmarks.analytics.verdicts import __main__ as verdicts
from benchmarks.analytics.verdicts import replays
from benchmarks.analytics.verdicts.campaigns import Order
from benchmarks.bots.running import RunningBots, running_bots
from benchmarks.command import toy_sizes
from benchmarks.conversations import running as collecting
from benchmarks.conversations.parlai_rival import SelfChat, self_chat
from benchmarks.fed.__main__ import TOY_OPTIONS
from benchmarks.fed.coverage import bots as played_bots
from benchmarks.fed.coverage import gate, pools
from benchmarks.fed.coverage.__main__ import TABLES, count_intervals
from spotthebot.analytics.stats.annotations import LabelCode
from spotthebot.analytics.stats.wins import count_wins, play_games
from spotthebot.local.postgres.provision import ACCESS
from tests.factories.clustered_campaigns import SETTINGS, Setting
from tests.factories.databases import Databases, PostgresServer, migrated_template, running_cluster
from tests.factories.judge_units import units
from tests.factories.processes import Installation, lent_installation
from tests.factories.published_dump import DATA
from tests.factories.running_suite import Keys

_OF_ROWS = ("analytics", "annotation", "bots", "conversations", "fed", "kit", "suite")
"""The pages' rows are tested where the demonstration runs: tests/e2e/test_stb.py."""
_OTHERS = {"web", "soak"}
_ROWS = [(name, row) for name in _OF_ROWS for row in importlib.import_module(f"benchmarks.{name}.__main__").ROWS]


Lend = Callable[[], AbstractContextManager[Installation]]


@pytest.fixture(scope="module")
def lend() -> Iterator[Lend]:
    """Lends what `prepared_installation` makes, on one server for all rows: to make one takes longer than many rows."""
    with running_cluster() as cluster:
        server = PostgresServer(cluster.admin_url, secrets.token_hex(16))
        with closing(Databases(server, migrated_template(server))) as databases:

            @contextmanager
            def lent() -> Iterator[Installation]:
                with databases.lend() as urls, lent_installation(urls) as made:
                    yield Installation(folder=made.folder, urls=made.urls, cluster=cluster)

            yield lent


@pytest.fixture(scope="module")
def suites(lend: Lend) -> Iterator[Callable[..., Any]]:
    """Lends one suite to all rows that hold collections on one worker without traces; others start their own."""
    with (
        lend() as installation,
        toy_sizes(collecting),
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(collecting.running_suite(installation)) as shared,
    ):

        @asynccontextmanager
        async def lent(own: Installation, *, workers: int = 1) -> AsyncIterator[collecting.Suite]:
            if workers > 1 or "OTEL_EXPORTER_OTLP_ENDPOINT" in os.environ:
                async with collecting.running_suite(own, workers=workers) as suite:
                    yield suite
                return
            async with AsyncExitStack() as clients, Keys(installation.urls.owner_urls[ACCESS]) as keys:
                yield collecting.Suite(replace(shared.processes, keys=keys, _clients=clients, _known={}))

        yield lent


@pytest.fixture(scope="module")
def bots() -> Iterator[RunningBots]:
    """The service `bots` for all rows that measure it, which name their bots differently."""
    with running_bots() as running:
        yield running


@pytest.fixture(scope="module")
def rival() -> Callable[..., SelfChat]:
    """ParlAI's chats, held once for all rows that compare with them: its imports take longer than they do."""
    held: list[SelfChat] = []

    def chat_once(url: str, *, chats: int, exchanges: int) -> SelfChat:
        held[:] = held or [self_chat(url, chats=chats, exchanges=exchanges)]
        return held[0]

    return chat_once


class TestRows:
    @pytest.mark.parametrize(("package", "row"), _ROWS, ids=[".".join(each) for each in _ROWS])
    def test_run_at_toy_size(
        self, package: str, row: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
    ):
        module = importlib.import_module(f"benchmarks.{package}.{row}")
        if hasattr(module, "prepared_installation"):
            monkeypatch.setattr(module, "prepared_installation", request.getfixturevalue("lend"))
        if hasattr(module, "running_suite"):
            monkeypatch.setattr(module, "running_suite", request.getfixturevalue("suites"))
        if hasattr(module, "running_bots"):
            running = request.getfixturevalue("bots")
            monkeypatch.setattr(module, "running_bots", lambda: nullcontext(running))
        if hasattr(module, "self_chat"):
            monkeypatch.setattr(module, "self_chat", request.getfixturevalue("rival"))
        options = TOY_OPTIONS if package == "fed" else {}
        with toy_sizes(module):
            measured = list(module.measure(**options))
        assert measured
        columns = importlib.import_module(f"benchmarks.{package}.__main__")
        assert {len(each.cells()) for each in measured} == {len(getattr(columns, "COLUMNS", command.COLUMNS))}

    def test_are_known_to_this_test(self):
        mains = (Path(__file__).parents[2] / "benchmarks").glob("*/__main__.py")
        assert {each.parent.name for each in mains} == {*_OF_ROWS, *_OTHERS}


class TestCoverage:
    @pytest.mark.parametrize("group", sorted(GROUPS))
    def test_is_counted_for_campaigns_in_one_simulation(self, group: str):
        largest = max(SETTINGS, key=lambda each: (each.per_pair, -each.k, each.annotators))
        shares = count_cell((largest, group, 1))
        assert shares
        assert all(0 <= each <= 1 for each in shares.values())

    def test_is_counted_for_chats_in_one_simulation_of_each_size(self):
        for setting in (chats.SETTINGS[0], chats.SETTINGS[-1]):
            tallies = chats.tally(setting, 0)
            assert all(0 <= held <= counted for held, counted in tallies.values())
            assert tallies["differences of fooling rates"][1] == setting.k * (setting.k - 1) // 2
            assert tallies["differences by partner"][1] == setting.k

    def test_is_counted_for_games_in_two_simulations(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(decisions, "_LARGE", 200)
        setting = decisions.SETTINGS[0]
        tallies = decisions.tally(setting, 0)
        assert all(0 <= held <= counted for held, counted in tallies.values())
        assert tallies["survival"][1] == 3 * decisions.LAST
        assert all(0 <= each <= 1 for each in (*decisions.power(setting, 2), *decisions.log_rank(setting, 2)))

    def test_is_counted_for_pooled_campaigns_in_two_simulations(self):
        setting = strata.SETTINGS[2]
        tallies = pooled.tally(setting, 0)
        assert all(0 <= held <= counted for held, counted in tallies.values())
        assert tallies["log hazard ratios"][1] > 0
        assert tallies["survival"][1] > 0
        assert all(0 <= each <= 1 for each in pooled.power(setting, 2))

    def test_is_counted_for_rank_correlations_in_a_few_simulations(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(rank_correlations, "_CAMPAIGNS", 2)
        coverage, width, *others = rank_correlations.shares(rank_correlations.SETTINGS[-1], 4)
        assert 0 < width < 2
        assert all(0 <= each <= 1 for each in (coverage, *others))

    def test_is_counted_for_means_over_campaigns_in_a_few_simulations(self):
        setting = strata.SETTINGS[2]
        tallies = strata.tally(setting, 0)
        assert all(0 <= held <= counted for held, counted in tallies.values())
        assert tallies["fooling rates"][1] == setting.k
        assert all(0 <= each <= 1 for each in strata.power(setting, 3))

    @pytest.mark.parametrize("name", sorted(TABLES))
    def test_is_counted_for_scores_in_one_simulation(self, name: str):
        table = TABLES[name]
        columns, shares = count_intervals((table.CELLS[0], 1))
        assert len(columns) == len(table.NAMES)
        assert set(shares) <= set(table.KINDS)

    @pytest.mark.parametrize("design", sorted({each.design for each in played_bots.CELLS}))
    def test_is_counted_for_mean_scores_of_bots_in_two_simulations(self, design: str):
        cell = next(each for each in played_bots.CELLS if each.design == design)
        shares = played_bots.measure((cell, 2))
        assert set(shares) == {*played_bots.COVERAGE, *played_bots.CLAIMS}
        assert all(0 <= share <= 1 for kind, share in shares.items() if kind != played_bots.WIDTH)

    def test_is_counted_for_unfair_pools_and_orders_in_two_simulations(self):
        assert set(pools.claims_of((pools.PLAYS[-2], 2))) == {*pools.POOLS}
        rates = pools.rates_of((pools.ORDERS[-3], 2))
        assert 0 < rates["reported"] <= 1 >= rates["true"] > 0

    @pytest.mark.parametrize("cell", gate.CELLS[::6], ids=lambda cell: cell.shape)
    def test_is_counted_for_gates_in_a_few_simulations(self, cell: gate.Planned):
        shares = gate.shares_of((cell, 20))
        assert set(shares) == {*gate.KINDS}
        assert shares["false alarms"] <= 0.25  # nominally 5 %: 5 of 20 have a probability of .3 %
        assert shares["power"] >= 0.2

    def test_draws_mean_scores_that_are_true_on_average(self):
        cells = [each for each in played_bots.CELLS if each.dialogues == 32]
        for cell in cells:
            drawn = [cell.draw(np.random.default_rng([3, seed]), np.arange(5.0)) for seed in range(200)]
            means = [np.bincount(each.bot, weights=each.score) / np.bincount(each.bot) for each in drawn]
            assert np.mean(means, axis=0) == pytest.approx(np.arange(5), abs=0.07)


class TestPower:
    def test_is_counted_in_two_simulations(self):
        smallest = min(cells.BALANCED, key=lambda each: (each.k, each.per_pair, each.annotators))
        shares = pair_power.power_of(smallest, 2)
        assert {f"oracle: {family}" for family in pair_power.FAMILIES.values()} <= set(shares)
        assert {*pair_power.TESTS, "pooled: coverage", "log-rank: false"} <= set(shares)

    def test_is_counted_for_coefficients_in_two_simulations(self):
        assert set(coefficients.power_of(Setting(4, 15, 6, 0.18, taste=True), 2)) == {"oracle", "found", "false"}

    @pytest.mark.parametrize("name", cells.HARD)
    def test_counts_false_claims_of_every_hard_cell(self, name: str):
        assert set(pair_power.level_of(name, 1)) == set(pair_power.TESTS)

    def test_is_counted_for_ratings_in_a_few_simulations(self):
        draws = [partial(rating_power.balanced, setting) for setting in rated_studies.BALANCED]
        draws += [partial(rating_power.of_chats, setting) for setting in chats.SETTINGS[:2]]
        draws += [partial(rating_power.of_turns, name) for name in rated_studies.TURNS]
        for draw in draws:
            shares = rating_power.power_of(draw, 3)
            assert set(shares) == {"oracle", *rating_power.TESTS, *(f"{test}: false" for test in rating_power.TESTS)}
            assert all(0 <= each <= 1 for each in shares.values())

    @pytest.mark.parametrize("name", rated_studies.HARD)
    def test_has_equal_bots_in_hard_cells_of_ratings(self, name: str):
        study = rated_studies.HARD[name]
        assert study.equals().any()
        assert set(rating_power.level_of(name, 1)) == set(rating_power.TESTS)
        drawn = rated_studies.draw_study(study, np.random.default_rng(0))
        if study.panels is not None:
            for bot, panel in enumerate(study.panels):
                assert set(drawn.annotator[drawn.bot == bot].tolist()) == set(panel)

    def test_is_planned_and_found_for_ratings_in_two_simulations(self, capsys: pytest.CaptureFixture[str]):
        rating_plans.main(["--simulations", "2"])
        header, _, *rows = capsys.readouterr().out.splitlines()
        assert [row.split(" | ")[0] for row in rows] == [f"| {name}" for name in rating_plans.CELLS]
        assert {row.count("|") for row in rows} == {header.count("|")}

    def test_is_counted_for_mixed_models_in_one_simulation(self):
        for study in mixed_models.STUDIES.values():
            shares = mixed_models.count_study(study, 1)
            assert len(shares) == len(mixed_models.COLUMNS) - 1
            assert all(0 <= each <= 1 for each in shares)


class TestVerdicts:
    def test_are_followed_in_a_few_campaigns_of_each_row(self, capsys: pytest.CaptureFixture[str]):
        verdicts.main(["--studies", "2", "--apart", "1"])
        header, _, *rows = capsys.readouterr().out.splitlines()
        assert len(rows) == len(verdicts.ANNOTATORS) * len(Order)
        assert {row.count("|") for row in rows} == {header.count("|")}

    def test_save_labels_of_a_published_study_and_contradict_none(self):
        if not DATA.is_dir():
            pytest.skip("the published annotations ../shared/data/spot-the-bot are not here")
        saved = replays.replay(replays.read(DATA, replays.DOMAINS[0]))
        assert saved.by_verdicts >= saved.by_oracle / 2
        assert saved.decided >= saved.pairs / 2
        assert saved.contradictions == 0


class TestJudges:
    def test_are_counted_in_two_campaigns(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
        monkeypatch.setattr(judges, "GRID", [next(each for each in JUDGED_GRID if each.annotators == 8)])
        judges.main(["--simulations", "2", "--annotators", "8", "--processes", "1", "--cells"])
        lines = capsys.readouterr().out.splitlines()
        rows = [line for line in lines if line.startswith(tuple(f"| {judge} |" for judge in JUDGES))]
        assert len(rows) == len(JUDGES) * len(KINDS)
        assert sum(line.startswith("| 8 |") for line in lines) == len(JUDGES) * len(KINDS)

    def test_have_campaigns_whose_truth_is_known(self):
        """Fooling rates, wins and survival of one campaign of thousands of annotators are near the computed truth."""
        setting = JudgedSetting(3000, 0.18)
        campaign = draw_campaign(setting, np.random.default_rng(0), conversations=80_000)
        table = campaign.table
        truth = truth_of(setting.correlation)
        decided = campaign.preferred != 0.5
        ahead = np.where(campaign.preferred[decided, None] == 1, table.entity[decided], table.entity[decided, ::-1])
        counts = np.zeros((4, 4))
        np.add.at(counts, tuple(ahead.T), 1)
        preferred = (counts / (counts + counts.T + np.eye(4)))[np.triu_indices(4, 1)]
        assert np.abs(preferred - truth_of_pairs(setting.correlation)).max() < 0.04
        wins = count_wins(play_games(table))
        assert np.abs(wins.win_rates[np.triu_indices(4, 1)] - truth.pairs).max() < 0.04
        assert np.abs(wins.mean_win_rates - truth.means).max() < 0.03
        for bot in range(4):
            own = table.entity == bot
            assert abs((table.label[own] == LabelCode.HUMAN).mean() - truth.fooling[bot]) < 0.02
            for at, length in enumerate((2, 3, 5)):
                seen = own & (table.exchanges == length)[:, None]
                assert abs((table.label[seen] != LabelCode.BOT).mean() - truth.survival[bot, at]) < 0.04


class TestReplays:
    def test_take_the_share_of_all_labels_as_the_rate_of_the_whole_study(self):
        some = units(per_pair=6)
        labels = [label.human for unit in some if unit.speaker == "ada" for label in unit.labels]
        everything, nobody = np.ones(len(some), dtype=np.bool_), np.full(len(some), np.nan)
        found = {each.bot: each.people for each in judged_replays.estimates(some, everything, nobody)}
        assert found["ada"].estimate == pytest.approx(sum(labels) / len(labels))

    def test_never_widen_an_interval_by_a_correction(self):
        found = judged_replays.replay(units(per_pair=12), 0.5, 3)
        assert 0 < found.width[1] <= found.width[0]
        assert 0 < found.error[0] < 0.5


class TestImportance:
    def test_is_counted_for_every_kind_of_study_in_one_simulation(self):
        rows = list(importance.rows(1))
        assert len(rows) == 3 * len(importance.CELLS)
        assert {len(row) for row in rows} == {len(importance.COLUMNS)}


class TestCommandLine:
    def test_says_what_is_missing_before_it_measures(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        measured: list[str] = []
        rows: dict[str, Callable[[], Any]] = {"present": lambda: measured.append("present"), "absent": list}
        with pytest.raises(SystemExit) as ended:
            _run(monkeypatch, rows, missing={"absent": "a browser"})
        assert (ended.value.code, measured) == (2, [])
        assert "absent needs a browser" in capsys.readouterr().err

    def test_prints_a_row_when_it_is_there_and_measures_the_others_where_one_fails(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        printed: list[str] = []

        def look() -> list[_Cells]:
            printed.append(capsys.readouterr().out)
            return []

        with pytest.raises(SystemExit, match="A row failed"):
            _run(monkeypatch, {"first": lambda: [_Cells()], "second": lambda: [1 // 0], "third": look})
        (before_third,) = printed
        assert "| first | b | c | d | e | f |" in before_third
        assert "| second | failed: ZeroDivisionError: integer division or modulo by zero | - |" in before_third

    def test_runs_a_package_from_the_shell(self):
        command_line = [sys.executable, "-m", "benchmarks.analytics", "--toy", "--only", "interval_npmle"]
        ran = subprocess.run(command_line, capture_output=True, text=True, check=True)
        assert "| NPMLE of 20 general intervals" in ran.stdout


class _Cells:
    def cells(self) -> list[str]:
        return ["first", "b", "c", "d", "e", "f"]


def _run(
    monkeypatch: pytest.MonkeyPatch, rows: Mapping[str, Callable[[], Any]], missing: Mapping[str, str] | None = None
) -> None:
    monkeypatch.setitem(sys.modules, "rows_of_a_test", ModuleType("rows_of_a_test"))
    for name, measure in rows.items():
        module = ModuleType(f"rows_of_a_test.{name}")
        vars(module).update(measure=measure, missing=partial((missing or {}).get, name))
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(sys, "argv", ["benchmarks"])
    command.run("rows_of_a_test", list(rows))
