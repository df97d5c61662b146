"""What campaigns of one cell say of each judge: coverage, errors, widths, false ranks, labels saved, and of rivals."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import scipy

from benchmarks.analytics.judges.campaigns import BOTS, LENGTHS, Campaign, Setting, draw_campaign, truth_of
from benchmarks.analytics.judges.judges import JUDGES
from benchmarks.analytics.judges.preferences import tally_preferences
from benchmarks.analytics.judges.rivals import RIVALS, intervals
from benchmarks.analytics.judges.tallies import Tally
from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, LabelCode
from spotthebot.analytics.stats.judged.columns import Columns
from spotthebot.analytics.stats.judged.intervals import Interval, describe
from spotthebot.analytics.stats.judged.sides import JudgedSides, values_of_sides
from spotthebot.analytics.stats.judged.survival import judged_survival
from spotthebot.analytics.stats.judged.values import judged_means, judged_shares
from spotthebot.analytics.stats.judged.win_rates import CorrectedWins, PeopleWins, correct_wins, game_columns
from spotthebot.analytics.stats.share_intervals import share_tests
from spotthebot.analytics.stats.win_rate_variance import Shares
from spotthebot.statistics.adjustment import adjust
from spotthebot.statistics.uncertainty import PooledEffects

KINDS = ("fooling", "mean", "win", "rank", "survival", "preference")
CHUNK = 20
"""Campaigns that are computed at once, as bots of one table."""
_EQUAL = np.zeros(len(BOTS))


def count_cell(setting: Setting, seeds: Sequence[int], rivals: Iterable[str] = ()) -> dict[str, dict[str, Tally]]:
    """Return the tallies of each judge by kind and by rival, of one campaign for each seed."""
    found: dict[str, dict[str, Tally]] = {judge: defaultdict(Tally) for judge in JUDGES}
    for start in range(0, len(seeds), CHUNK):
        chunk = seeds[start : start + CHUNK]
        generators = [np.random.default_rng([setting.annotators, round(100 * setting.correlation), s]) for s in chunk]
        campaigns = [draw_campaign(setting, generator) for generator in generators]
        equal = [draw_campaign(setting, generator, skill=_EQUAL) for generator in generators]
        table = _joined(campaigns)
        people, of_equals = (_Wins.of(of) for of in (campaigns, equal))
        for judge, answer in JUDGES.items():
            answers = [answer(each, generator) for each, generator in zip(campaigns, generators, strict=True)]
            of_equal = [answer(each, generator) for each, generator in zip(equal, generators, strict=True)]
            tallies = found[judge]
            _tally_sides(table, _joined_sides(campaigns, answers), setting, tallies)
            _tally_wins(people, answers, setting, tallies["win"])
            _tally_ranks(of_equals, of_equal, tallies["rank"])
            tally_preferences(campaigns, answers, equal, of_equal, tallies["preference"])
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
    human: FloatArray = (table.label == LabelCode.HUMAN).astype(np.float64)
    return human


def _tally_sides(table: AnnotationTable, sides: JudgedSides, setting: Setting, tallies: dict[str, Tally]) -> None:
    truth, k = truth_of(setting.correlation), len(BOTS)
    study = np.arange(len(table.names)) // k
    for at, bot in enumerate(judged_shares(values_of_sides(table, sides, _human(table)), study=study)):
        tallies["fooling"].add(truth.fooling[at % k], bot.people, bot.corrected, bot.labels_saved)
    # On the scale of `label`: human 1, unsure .5, bot 0.
    means = (truth.fooling + truth.survival.mean(axis=1)) / 2
    scored = values_of_sides(table, sides, table.label / LabelCode.HUMAN)
    for at, bot in enumerate(judged_means(scored, scale=(0.0, 1.0), study=study)):
        tallies["mean"].add(means[at % k], bot.people, bot.corrected, bot.labels_saved)
    for at, curve in enumerate(judged_survival(table, sides, study=study)):
        people = map(Interval, curve.people.estimate, curve.people.low, curve.people.high)
        points = zip(curve.times, people, curve.corrected, curve.labels_saved, strict=True)
        for time, of_people, corrected, saved in points:
            holds = truth.survival[at % k, np.searchsorted(LENGTHS, time)]
            tallies["survival"].add(holds, of_people, corrected, saved)


@dataclass(frozen=True, eq=False)
class _Wins:
    """People's win rates of several campaigns at once, which are the same for all judges."""

    campaigns: Sequence[Campaign]
    wins: PeopleWins

    @classmethod
    def of(cls, campaigns: Sequence[Campaign]) -> "_Wins":
        every = [PeopleWins.of(each.table) for each in campaigns]
        return cls(
            campaigns,
            PeopleWins(
                bots=BOTS,
                pairs=_stacked([each.pairs for each in every]),
                means=_stacked([each.means for each in every]),
                differences=_stacked([each.differences for each in every]),
                means_over=scipy.sparse.block_diag([each.means_over for each in every], format="csr"),
                differences_over=scipy.sparse.block_diag([each.differences_over for each in every], format="csr"),
                met=np.concatenate([each.met for each in every]),
            ),
        )

    def corrected(self, answers: Sequence[FloatArray]) -> CorrectedWins:
        """Correct the win rates of all campaigns. Each campaign has a judge of its own."""
        m, c = len(BOTS) * (len(BOTS) - 1) // 2, len(self.campaigns[0].entity)
        rates = self.wins.pairs.share.reshape(-1, m)
        columns = [
            game_columns(each.table, each.judged(said), rates[at])
            for at, (each, said) in enumerate(zip(self.campaigns, answers, strict=True))
        ]
        people = self.campaigns[0].setting.annotators
        rows = _shifted([of_people for of_people, _ in columns], statistic=m, conversation=c, annotator=people)
        units = _shifted([of_judge for _, of_judge in columns], statistic=m, conversation=c)
        study = np.repeat(np.arange(len(self.campaigns)), m)
        return correct_wins(self.wins, rows, units, study, 0.95)


def _shifted(every: Sequence[Columns], **steps: int) -> Columns:
    """Return the columns one after the other, with codes that are shifted by a step for each."""
    return replace(
        every[0],
        **{
            each.name: np.concatenate(
                [getattr(columns, each.name) + steps.get(each.name, 0) * at for at, columns in enumerate(every)]
                if each.name in steps
                else [getattr(columns, each.name) for columns in every]
            )
            for each in fields(every[0])
        },
    )


def _stacked(every: Sequence[Shares]) -> Shares:
    variances = [each.variance for each in every]
    pooled = [each.pooled for each in variances]
    names = ("design_effect", "expected", "own", "own_degrees")

    def joined(name: str) -> FloatArray:
        unknown = [np.full(len(each.variance), np.nan) for each in variances]
        parts = [
            nothing if effects is None else getattr(effects, name)
            for effects, nothing in zip(pooled, unknown, strict=True)
        ]
        return np.concatenate(parts)

    effects = PooledEffects(**{name: joined(name) for name in names}, family=0) if any(pooled) else None
    return Shares(
        np.concatenate([each.share for each in every]),
        np.concatenate([each.n for each in every]),
        replace(
            variances[0],
            variance=np.concatenate([each.variance for each in variances]),
            degrees=np.concatenate([each.degrees for each in variances]),
            n_conversations=np.concatenate([each.n_conversations for each in variances]),
            n_annotators=np.concatenate([each.n_annotators for each in variances]),
            pooled=effects,
        ),
    )


def _tally_wins(people: _Wins, answers: Sequence[FloatArray], setting: Setting, tally: Tally) -> None:
    found, truth = people.corrected(answers), truth_of(setting.correlation).pairs
    findings = [found.findings[at // len(truth)] for at in range(len(found.pairs.estimate))]
    pairs = people.wins.pairs
    for at, each in enumerate(describe(found.pairs, pairs.share, pairs.variance, findings, 0.95)):
        tally.add(float(truth[at % len(truth)]), each["people"], each["corrected"], each["labels_saved"])


def _tally_ranks(people: _Wins, answers: Sequence[FloatArray], tally: Tally) -> None:
    """Count the mean win rates of equal bots, and the campaigns that rank any bot before another."""
    found, k = people.corrected(answers), len(BOTS)
    findings = [found.findings[at // k] for at in range(len(found.means.estimate))]
    means, differences = people.wins.means, found.differences
    for each in describe(found.means, means.share, means.variance, findings, 0.95):
        tally.add(0.5, each["people"], each["corrected"], each["labels_saved"])
    of = len(differences.share) // len(people.campaigns)
    _, p_values = share_tests(*differences)
    for start in range(0, len(p_values), of):
        tally.claims += 1
        tally.false += bool((adjust(p_values[start : start + of]) < 0.05).any())


def _tally_rival(rival: str, campaign: Campaign, said: FloatArray, setting: Setting, tally: Tally) -> None:
    values = values_of_sides(campaign.table, campaign.judged(said), _human(campaign.table))
    own = [each.people for each in judged_shares(values)]
    for people, (estimate, low, high), truth in zip(
        own, intervals(rival, values), truth_of(setting.correlation).fooling, strict=True
    ):
        tally.add(float(truth), people, Interval(estimate, low, high), Interval(None, None, None))
