"""Tables 4, 8 and 9 of Spot The Bot: the paper's figures, ours, and the reference's."""

import numpy as np
import pytest

from spotthebot.analytics.labels.domain import take_sample
from spotthebot.analytics.stats.annotators import annotator_quality
from spotthebot.analytics.stats.segments import segment_results
from spotthebot.analytics.stats.times import annotation_times
from spotthebot.importers.dump_study import read_study
from spotthebot.importers.published_dump.dump import open_dump
from tests.factories.known import known
from tests.factories.published_dump import DATA, published_table, reference
from tests.reproduction.comparison import Comparison


@pytest.fixture(params=["dailydialog", "empathetic"])
def domain(request):
    return request.param


def _by_filter(domain):
    return reference(f"spot-the-bot/{domain}.json")["by_filter"]["pkg"]


class TestTable8:
    def test_every_cell_is_the_reference_s(self, domain):
        expected, names = _by_filter(domain)["segments_table8"], reference(f"spot-the-bot/{domain}.json")["systems"]
        compared = Comparison(f"Table 8, {domain}")
        for result in segment_results(published_table(domain, "pkg")):
            want = expected[str(result.exchanges)]
            compared.add(f"ties after {result.exchanges}", None, result.ties, want["ties"])
            for bot in result.bots:
                at = names.index(bot.bot)
                compared.add(f"{bot.bot} wins", None, bot.win_rate.estimate, want["win_rate"][at])
                compared.add(f"{bot.bot} human", None, bot.human_share.estimate, want["human_share"][bot.bot])
                compared.add(f"{bot.bot} unsure", None, bot.unsure_share.estimate, want["unsure_share"][bot.bot])
                assert bot.n == want["n"][bot.bot]
        compared.print()
        assert len(compared) == len(expected) * (1 + 3 * len(names))
        assert compared.furthest_from_reference() < 1e-9

    def test_dailydialog_s_27_cells_are_printed(self):
        paper = reference("spot-the-bot/summary.json")["table8"]["paper"]
        compared = Comparison("Table 8 as printed: values cut to two decimals")
        for at, result in enumerate(segment_results(published_table("dailydialog", "pkg"))):
            compared.add(f"ties after {result.exchanges}", paper["TIES"][at], result.ties, None)
            for bot in result.bots:
                compared.add(f"{bot.bot} wins", paper[bot.bot][at][0], bot.win_rate.estimate, None)
                compared.add(f"{bot.bot} human", paper[bot.bot][at][1], bot.human_share.estimate, None)
        compared.print()
        assert compared.printed_alike("truncated") == len(compared) == 27


class TestTable9:
    def test_every_annotator_and_mean_is_the_reference_s(self, domain):
        expected = _by_filter(domain)["annotator_stats"]
        crowd = annotator_quality(published_table(domain, "pkg"))
        compared = Comparison(f"Table 9, {domain}")
        n, correctness, human, below = expected["paper"]
        compared.add("annotators", n, crowd.n, expected["n"])
        compared.add("correctness", correctness, crowd.correctness, expected["macro_corr"])
        compared.add("correctness on humans", human, crowd.human_correctness, expected["macro_human_corr"])
        compared.add("share below one half", below, crowd.share_below_half, expected["share_below_50"])
        compared.print()
        assert compared.furthest_from_reference() < 1e-9
        assert compared.printed_alike("rounded", "truncated") >= 3  # the last column is swapped in print
        ours = sorted((each.n, known(each.correctness)) for each in crowd.annotators)
        theirs = sorted((user["n"], user["corr"]) for user in expected["users"].values())
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


class TestTable4:
    def test_medians_and_means_are_the_reference_s(self, domain):
        if not DATA.is_dir():
            pytest.skip("the published annotations ../shared/data/spot-the-bot are not here")
        with open_dump(DATA, domain) as dump:
            sample = take_sample(read_study(dump).labelled, "complete_packages")
        table = sample.table
        times = annotation_times(sample.elapsed_ms, table.exchanges, table.conversation, table.annotator)
        expected = _by_filter(domain)["times"]
        compared = Comparison(f"Table 4, {domain}: seconds; what is printed as mean is the median")
        compared.add("median", expected["paper"], times.median_seconds, expected["median"])
        compared.add("mean", None, times.mean_seconds, expected["mean"])
        for each in times.segments:
            median = expected["median_by_segment"][str(each.exchanges)]
            compared.add(f"median after {each.exchanges}", None, each.median_seconds, median)
        compared.print()
        assert (times.n, times.excluded) == (expected["n"], expected["excluded_start_minus1"])
        assert compared.furthest_from_reference() < 1e-9
        assert round(known(times.median_seconds)) == expected["paper"]
        assert known(times.low) < known(times.median_seconds) < known(times.high)
