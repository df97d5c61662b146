"""What campaigns of one cell say of each judge: coverage, errors, widths, false ranks, labels saved, and of rivals."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.analytics.judges.campaigns import BOTS, LENGTHS, Campaign, Setting, draw_campaign, truth_of
from benchmarks.analytics.judges.judges import JUDGES
from benchmarks.analytics.judges.rivals import RIVALS, intervals
from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray, LabelCode
from spotthebot.analytics.stats.judged.games import JudgedRanking, judged_win_rates
from spotthebot.analytics.stats.judged.intervals import Interval
from spotthebot.analytics.stats.judged.sides import JudgedSides, values_of_sides
from spotthebot.analytics.stats.judged.survival import judged_survival
from spotthebot.analytics.stats.judged.values import judged_shares
from spotthebot.analytics.stats.win_rate_variance import Shares, WinRateVariance
from spotthebot.analytics.stats.wins import play_games

KINDS = ("fooling", "win", "rank", "survival")
CHUNK = 20
"""Campaigns that are computed at once, as bots of one table."""
_ROUNDING = 1e-9
_EQUAL = np.zeros(len(BOTS))


class _KnownWins(WinRateVariance):
    """People's win rates, which are the same for all judges of a campaign."""

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(play_games(campaign.table))
        self._found = super().differences(*np.triu_indices(len(BOTS), 1))

    def differences(self, first: IntArray, second: IntArray) -> Shares:
        """Return the differences of all pairs, in this order."""
        assert len(first) == len(second) == len(self._found.share)  # noqa: S101 - a benchmark
        return self._found


@dataclass
class Tally:
    """All intervals of one judge and kind in a cell, as lists of equal length, and false claims of `claims` campaigns."""

    held: list[bool] = field(default_factory=list)
    people_held: list[bool] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    people_error: list[float] = field(default_factory=list)
    wider: list[float] = field(default_factory=list)
    saved: list[tuple[float, float, float]] = field(default_factory=list)
    false: int = 0
    claims: int = 0

    def add(self, truth: float, people: Interval, corrected: Interval, saved: Interval) -> None:
        """Add an estimate; without a bound it does not count."""
        if people.low is None or people.high is None or people.estimate is None:
            return
        if corrected.low is None or corrected.high is None or corrected.estimate is None:
            return
        self.people_held.append(people.low <= truth <= people.high)
        self.held.append(corrected.low <= truth <= corrected.high)
        self.people_error.append(people.estimate - truth)
        self.error.append(corrected.estimate - truth)
        self.wider.append((corrected.high - corrected.low) / (people.high - people.low))
        if saved.estimate is not None and saved.low is not None and saved.high is not None:
            self.saved.append((saved.estimate, saved.low, saved.high))

    def figures(self) -> dict[str, float]:
        """Return the figures of the cell. `saved` is of the true errors, with its standard error over intervals."""
        square, of_people = np.square(self.error), np.square(self.people_error)
        truth = 1 - square.sum() / of_people.sum()
        noise = np.std(square - (1 - truth) * of_people) * np.sqrt(len(square)) / of_people.sum()
        slack = 2 * noise + _ROUNDING
        saved = np.array(self.saved).reshape(-1, 3)
        holds = (saved[:, 1] <= truth + slack) & (saved[:, 2] >= truth - slack)
        found = {
            "coverage": np.mean(self.held),
            "people's coverage": np.mean(self.people_held),
            "rmse": np.sqrt(1 - truth),
            "width": np.mean(self.wider),
            "widest": np.max(self.wider),
            "saved": truth,
            "saved, error": noise,
            "saved, estimate": saved[:, 0].mean(),
            "saved, holds": holds.mean(),
            "n": float(len(square)),
        }
        if self.claims:
            found["false"] = self.false / self.claims
        return {name: float(value) for name, value in found.items()}


def count_cell(setting: Setting, seeds: Sequence[int], rivals: Iterable[str] = ()) -> dict[str, dict[str, Tally]]:
    """Return the tallies of each judge by kind and by rival, of one campaign for each seed."""
    found: dict[str, dict[str, Tally]] = {judge: defaultdict(Tally) for judge in JUDGES}
    for start in range(0, len(seeds), CHUNK):
        chunk = seeds[start : start + CHUNK]
        generators = [np.random.default_rng([setting.annotators, round(100 * setting.correlation), s]) for s in chunk]
        campaigns = [draw_campaign(setting, generator) for generator in generators]
        equal = [draw_campaign(setting, generator, skill=_EQUAL) for generator in generators]
        table = _joined(campaigns)
        rates = [[_KnownWins(each) for each in of] for of in (campaigns, equal)]
        for judge, answer in JUDGES.items():
            answers = [answer(each, generator) for each, generator in zip(campaigns, generators, strict=True)]
            of_equal = [answer(each, generator) for each, generator in zip(equal, generators, strict=True)]
            tallies = found[judge]
            _tally_sides(table, _joined_sides(campaigns, answers), setting, tallies)
            for each, said, people in zip(campaigns, answers, rates[0], strict=True):
                _tally_wins(judged_win_rates(each.table, each.judged(said), people=people), setting, tallies["win"])
            for each, said, people in zip(equal, of_equal, rates[1], strict=True):
                _tally_ranks(judged_win_rates(each.table, each.judged(said), people=people), tallies["rank"])
            for rival in rivals:
                limit = RIVALS[rival][1]
                for seed, each, said in zip(chunk, campaigns, answers, strict=True):
                    if limit is None or seed < limit:
                        _tally_rival(rival, each, said, setting, tallies[rival])
    return {judge: dict(kinds) for judge, kinds in found.items()}


def _joined(campaigns: Sequence[Campaign]) -> AnnotationTable:
    """Return the annotations of all campaigns, whose bots and people are different."""
    k, c = len(BOTS), len(campaigns[0].entity)
    people = campaigns[0].setting.annotators
    tables = [each.table for each in campaigns]
    return AnnotationTable(
        names=tuple(f"{bot} {at}" for at in range(len(campaigns)) for bot in BOTS),
        conversation=np.concatenate([each.conversation + c * at for at, each in enumerate(tables)]),
        entity=np.concatenate([each.entity + k * at for at, each in enumerate(tables)]),
        exchanges=np.concatenate([each.exchanges for each in tables]),
        label=np.concatenate([each.label for each in tables]),
        annotator=np.concatenate([each.annotator + people * at for at, each in enumerate(tables)]),
    )


def _joined_sides(campaigns: Sequence[Campaign], answers: Sequence[FloatArray]) -> JudgedSides:
    k, c = len(BOTS), len(campaigns[0].entity)
    return JudgedSides(
        conversation=np.arange(c * len(campaigns)),
        entity=np.concatenate([each.entity + k * at for at, each in enumerate(campaigns)]),
        exchanges=np.concatenate([each.exchanges for each in campaigns]),
        judge=np.concatenate(answers),
    )


def _human(table: AnnotationTable) -> FloatArray:
    return (table.label == LabelCode.HUMAN).astype(np.float64)


def _tally_sides(table: AnnotationTable, sides: JudgedSides, setting: Setting, tallies: dict[str, Tally]) -> None:
    truth, k = truth_of(setting.correlation), len(BOTS)
    study = np.arange(len(table.names)) // k
    for at, bot in enumerate(judged_shares(values_of_sides(table, sides, _human(table)), study=study)):
        tallies["fooling"].add(truth.fooling[at % k], bot.people, bot.corrected, bot.labels_saved)
    for at, curve in enumerate(judged_survival(table, sides, study=study)):
        people = map(Interval, curve.people.estimate, curve.people.low, curve.people.high)
        points = zip(curve.times, people, curve.corrected, curve.labels_saved, strict=True)
        for time, of_people, corrected, saved in points:
            holds = truth.survival[at % k, np.searchsorted(LENGTHS, time)]
            tallies["survival"].add(holds, of_people, corrected, saved)


def _tally_wins(ranking: JudgedRanking, setting: Setting, tally: Tally) -> None:
    for pair, holds in zip(ranking.pairs, truth_of(setting.correlation).pairs, strict=True):
        tally.add(holds, pair.people, pair.corrected, pair.labels_saved)


def _tally_ranks(ranking: JudgedRanking, tally: Tally) -> None:
    """Count the mean win rates of equal bots, and whether any bot is ranked before another."""
    for bot in ranking.bots:
        tally.add(0.5, bot.people, bot.corrected, bot.labels_saved)
    if ranking.reason is None:
        tally.claims += 1
        tally.false += any((bot.rank_low, bot.rank_high) != (1, len(BOTS)) for bot in ranking.bots)


def _tally_rival(rival: str, campaign: Campaign, said: FloatArray, setting: Setting, tally: Tally) -> None:
    values = values_of_sides(campaign.table, campaign.judged(said), _human(campaign.table))
    own = [each.people for each in judged_shares(values)]
    for people, (estimate, low, high), truth in zip(
        own, intervals(rival, values), truth_of(setting.correlation).fooling, strict=True
    ):
        tally.add(float(truth), people, Interval(estimate, low, high), Interval(None, None, None))
