"""What a report says of its methods, in prose with citations."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from spotthebot.analytics.figures.charts import percent
from spotthebot.contracts.analytics.analyses import Stability
from spotthebot.contracts.analytics.results import Analysis


@dataclass(frozen=True)
class Reference:
    """A work that is cited."""

    key: str
    text: str
    url: str


_WORKS: Final = (
    Reference(
        "deriu2020",
        "J. Deriu, D. Tuggener, P. von Däniken, J. A. Campos, A. Rodrigo, T. Belkacem, A. Soroa, E. Agirre,"
        " M. Cieliebak:"
        " Spot The Bot: A Robust and Efficient Framework for the Evaluation of Conversational Dialogue Systems."
        " EMNLP 2020, 3971-3984.",
        "https://doi.org/10.18653/v1/2020.emnlp-main.326",
    ),
    Reference(
        "cameron2011",
        "A. C. Cameron, J. B. Gelbach, D. L. Miller: Robust Inference with Multiway Clustering."
        " Journal of Business & Economic Statistics 29(2), 2011, 238-249.",
        "https://doi.org/10.1198/jbes.2010.07136",
    ),
    Reference(
        "mackinnon2023",
        "J. G. MacKinnon, M. Ø. Nielsen, M. D. Webb: Fast and Reliable Jackknife and Bootstrap Methods for"
        " Cluster-Robust Inference. Journal of Applied Econometrics 38(5), 2023, 671-694.",
        "https://doi.org/10.1002/jae.2969",
    ),
    Reference(
        "mogstad2024",
        "M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm: Inference for Ranks with Applications to Mobility across"
        " Neighbourhoods and Academic Achievement across Countries. Review of Economic Studies 91(1), 2024, 476-518.",
        "https://doi.org/10.1093/restud/rdad006",
    ),
    Reference(
        "herbrich2006",
        "R. Herbrich, T. Minka, T. Graepel: TrueSkill: A Bayesian Skill Rating System. NIPS 2006, 569-576.",
        "https://papers.nips.cc/paper/3079-trueskilltm-a-bayesian-skill-rating-system",
    ),
    Reference(
        "davidson1970",
        "R. R. Davidson: On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments."
        " Journal of the American Statistical Association 65, 1970, 317-328.",
        "https://doi.org/10.1080/01621459.1970.10481082",
    ),
    Reference(
        "holm1979",
        "S. Holm: A Simple Sequentially Rejective Multiple Test Procedure."
        " Scandinavian Journal of Statistics 6(2), 1979, 65-70.",
        "https://www.jstor.org/stable/4615733",
    ),
    Reference(
        "groeneboom1992",
        "P. Groeneboom, J. A. Wellner: Information Bounds and Nonparametric Maximum Likelihood Estimation."
        " Birkhäuser 1992.",
        "https://doi.org/10.1007/978-3-0348-8621-5",
    ),
    Reference(
        "finkelstein1986",
        "D. M. Finkelstein: A Proportional Hazards Model for Interval-Censored Failure Time Data."
        " Biometrics 42(4), 1986, 845-854.",
        "https://doi.org/10.2307/2530698",
    ),
    Reference(
        "firth1993",
        "D. Firth: Bias Reduction of Maximum Likelihood Estimates. Biometrika 80(1), 1993, 27-38.",
        "https://doi.org/10.1093/biomet/80.1.27",
    ),
    Reference(
        "krippendorff2011",
        "K. Krippendorff: Computing Krippendorff's Alpha-Reliability. University of Pennsylvania 2011.",
        "https://repository.upenn.edu/handle/20.500.14332/2089",
    ),
    Reference(
        "aronow2015",
        "P. M. Aronow, C. Samii, V. A. Assenova: Cluster-Robust Variance Estimation for Dyadic Data."
        " Political Analysis 23(4), 2015, 564-577.",
        "https://doi.org/10.1093/pan/mpv018",
    ),
    Reference(
        "fleiss1971",
        "J. L. Fleiss: Measuring Nominal Scale Agreement Among Many Raters."
        " Psychological Bulletin 76(5), 1971, 378-382.",
        "https://doi.org/10.1037/h0031619",
    ),
)


_ONE_TEXT: Final = (
    "Conversations whose words are the same in the same order, as far as annotators saw them, were one conversation to"
    " every interval and test."
)


@dataclass(frozen=True)
class Prose:
    """Sentences with numbered citations, and the works in the order of their numbers."""

    sentences: tuple[str, ...]
    references: tuple[Reference, ...]


def methods(analysis: Analysis, stability: Stability | None) -> Prose:
    """Say how the results were made; only works that were used are cited."""
    cited: list[str] = []

    def cite(key: str) -> str:
        if key not in cited:
            cited.append(key)
        return f"[{cited.index(key) + 1}]"

    level, counts = percent(analysis.confidence_level), analysis.counts
    people = "simulated annotators (programs, not people)" if counts.simulated_annotators else "annotators"
    kept = (
        "packages that an annotator did not finish were left out"
        if analysis.filter == "complete_packages"
        else "no annotation was left out"
    )
    sentences = [
        (
            f"Bots were evaluated with Spot The Bot {cite('deriu2020')}: {counts.annotators:,} {people} saw"
            f" {counts.segments:,} segments of {counts.annotated_conversations:,} conversations and labelled each side"
            f" human, bot or unsure ({counts.annotations:,} annotations; {kept})."
        ),
        (
            f"A game is one {analysis.unit}; human beats unsure beats bot, and win rates are wins among decided games,"
            " averaged over opponents (Eq. 1)."
        ),
        f"Win rates: {analysis.ranking.method}; ranks: {analysis.ranking.rank_method} {cite('mogstad2024')}.",
        _clusters(analysis, cite),
        *([_ONE_TEXT] if analysis.repeated_texts else []),
        (
            f"TrueSkill {cite('herbrich2006')}: {analysis.ranking.trueskill_method}; draw probability"
            f" {analysis.ranking.draw_probability:.3f}, the share of ties."
        ),
        f"Bradley-Terry strengths with ties {cite('davidson1970')}: {analysis.ranking.bradley_terry_method}.",
        f"Pairs: {_pair_test(analysis)}, {_correction(analysis, cite)}; the level is {analysis.significance_level:g}.",
        (
            "Survival curves are nonparametric maximum-likelihood estimates for current-status data"
            f" {cite('groeneboom1992')} with pointwise {level} intervals; they were compared by generalized log-rank"
            f" tests {cite('finkelstein1986')}{_cox(analysis, cite)}; {_survival_tests(analysis)}."
        ),
        (
            f"Agreement is given as Krippendorff's alpha {cite('krippendorff2011')} and Fleiss' kappa"
            f" {cite('fleiss1971')}, with intervals from each unit's influence on the coefficient; two units vary"
            f" together if they are of one conversation or share an annotator {cite('aronow2015')}."
        ),
    ]
    if not _orders_alike(analysis):
        sentences.append(
            "TrueSkill puts the bots into another order than the win rates do: it weighs games by the opponents'"
            " strength and counts ties. The win rates decide the ranking."
        )
    sentences.append(_ASSUMPTIONS)
    if _has_cox(analysis):
        sentences.append(_NO_CAUSES)
    if stability is not None:
        sentences.append(
            f"Stability is the share of {stability.subsets:,} random subsets of each size that fall into the commonest"
            f" clusters ({stability.rule} ranking rule, {stability.resamples:,} replicates)."
        )
    works = {work.key: work for work in _WORKS}
    return Prose(tuple(sentences), tuple(works[key] for key in cited))


def _clusters(analysis: Analysis, cite: Callable[[str], str]) -> str:
    if analysis.clusters == "fixed_panel":
        return (
            "Intervals and tests speak of this panel of annotators: they say how far other conversations would have"
            " changed the results, and nothing of other annotators."
        )
    if analysis.clusters == "both":
        return (
            "Annotations of one conversation and annotations of one annotator vary together, so variances add up both"
            f" kinds of clusters {cite('cameron2011')} by the jackknife {cite('mackinnon2023')}, with Student's t on"
            " effective degrees of freedom: results speak of other conversations and other annotators."
        )
    if analysis.clusters == "none":
        return "Intervals take annotations for independent, which they are not: they are too narrow."
    return (
        f"Variances are those of clusters of one kind, {analysis.clusters}s, by the jackknife {cite('mackinnon2023')}."
    )


def _pair_test(analysis: Analysis) -> str:
    return analysis.win_rates.pairs[0].test if analysis.win_rates.pairs else "no two bots met"


_ASSUMPTIONS: Final = (
    "What the numbers assume: conversations and annotators are a sample of those they shall speak for, and"
    " packages were dealt to annotators without regard to the bots. Win rates say who is preferred when two bots"
    " are seen together, and drop ties. Survival takes a label at one length for what is known at that length"
    " alone (current status), and a bot that was spotted as spotted at every greater length (monotone detection)."
    " TrueSkill and Bradley-Terry take one strength to explain a bot's games against every opponent."
)


_NO_CAUSES: Final = (
    "Cox coefficients are associations between what annotators preferred and what they labelled, and no causes."
)


def _orders_alike(analysis: Analysis) -> bool:
    """Tell whether TrueSkill's means descend along the ranking by win rates."""
    means = [each.trueskill.mu for each in analysis.ranking.bots if each.win_rate.estimate is not None]
    return all(before >= after for before, after in pairwise(means))


def _survival_tests(analysis: Analysis) -> str:
    tests = analysis.survival.log_rank
    return tests[0].method if tests else "no two curves could be compared"


def _correction(analysis: Analysis, cite: Callable[[str], str]) -> str:
    if analysis.correction == "holm":
        return f"corrected by Holm's procedure {cite('holm1979')} over all pairs"
    return "corrected by Bonferroni over all pairs" if analysis.correction == "bonferroni" else "without correction"


def _cox(analysis: Analysis, cite: Callable[[str], str]) -> str:
    if not _has_cox(analysis):
        return ""
    penalty = f", with Firth's penalty {cite('firth1993')} where the data are separated" if _separated(analysis) else ""
    return f", and Cox models of the features were fitted for interval-censored times{penalty}"


def _has_cox(analysis: Analysis) -> bool:
    return any(each.coefficient is not None for each in analysis.survival.cox)


def _separated(analysis: Analysis) -> bool:
    return any(each.separated for each in analysis.survival.cox)
