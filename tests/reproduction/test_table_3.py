"""Table 3 of Spot The Bot: how often two annotators give the same label."""

import pytest

from spotthebot.analytics.labels.domain import labelled_campaign_of
from spotthebot.analytics.pooled.domain import pool
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import SECTIONS, compute_section
from spotthebot.analytics.stats.label_agreement import AgreementRule, label_agreement
from tests.factories.known import known
from tests.factories.published_dump import published_table, reference
from tests.reproduction.comparison import Comparison


class TestTable3:
    @pytest.mark.parametrize("domain", ["dailydialog", "empathetic"])
    @pytest.mark.parametrize(("rule", "key"), [(AgreementRule.PUBLISHED, "code"), (AgreementRule.ONCE, "words")])
    @pytest.mark.parametrize("package_filter", ["none", "pkg"])
    def test_is_the_reference_s(self, domain, rule, key, package_filter):
        expected = reference(f"spot-the-bot/{domain}.json")["by_filter"][package_filter]["agreement"][f"exact2/{key}"]
        rates = label_agreement(published_table(domain, package_filter), rule=rule)
        compared = Comparison(f"Table 3, {domain}, filter {package_filter}, pairs counted {rule}")
        for each in rates:
            if each.n:
                key_of = f"{each.bot}|{each.label.name.lower()}"
                compared.add(key_of, None, each.estimate, expected[key_of]["rate"])
        compared.print()
        found: dict[str, object] = {
            f"{each.bot}|{each.label.name.lower()}": (each.agree, each.n, known(each.estimate))
            for each in rates
            if each.n
        }
        assert found == {
            pair: (want["agree"], want["total"], pytest.approx(want["rate"], abs=1e-12))
            for pair, want in expected.items()
        }

    def test_table_3_prints_the_mean_of_two_domains_for_gpt(self):
        # The paper averages the domains' two-decimal rates; GPT alone took part in just the two that are here.
        expected = reference("spot-the-bot/summary.json")["table3"]["values"]["GPT"]
        compared = Comparison("Table 3, GPT: mean of two domains' two-decimal rates")
        for at, label in enumerate(("bot", "human", "unsure")):
            rates = [
                round(known(each.estimate), 2)
                for domain in ("dailydialog", "empathetic")
                for each in label_agreement(published_table(domain, "pkg"))
                if (each.bot, each.label.name.lower()) == ("GPT", label)
            ]
            paper = expected["paper_bot_human_unsure"][at]
            compared.add(f"GPT {label}", paper, sum(rates) / 2, expected[label]["macro_of_2dp_rounded"])
        compared.print()
        assert compared.furthest_from_reference() < 1e-9
        assert compared.printed_alike("rounded") == 3

    def test_pooled_campaigns_have_the_mean_of_the_domains(self):
        expected = reference("spot-the-bot/summary.json")["table3"]["values"]["GPT"]
        documents = []
        for domain in ("dailydialog", "empathetic"):
            campaign = labelled_campaign_of(published_table(domain, "pkg"), domain)
            found = compute_section(SECTIONS["agreement"], campaign, Parameters(filter="none"))
            documents.append(found.model_dump_json().encode())
        pooled = pool("agreement", "spot_the_bot 1", documents, shared=False)
        means = {each.subject: each for each in pooled.estimates if each.bot == "GPT" and each.exchanges is None}
        for label in ("bot", "human", "unsure"):
            assert means[label].estimate == pytest.approx(expected[label]["macro"], abs=1e-12)
            agree = [agree / total for agree, total in expected[label]["by_domain"].values()]
            assert means[label].by_campaign == pytest.approx(tuple(agree), abs=1e-12)
        # Footnote 9: of both domains the lengths 2 and 3, of one 1 and of the other 5.
        lengths = [
            (each.exchanges, len([own for own in each.by_campaign if own is not None]))
            for each in pooled.estimates
            if (each.bot, each.subject) == ("GPT", "bot")
        ]
        assert sorted(lengths, key=str) == [(1, 1), (2, 2), (3, 2), (5, 1), (None, 2)]
