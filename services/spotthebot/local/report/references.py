"""The works that a report cites, and prose with numbered citations."""

from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Reference:
    """A cited work."""

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
        "finch2023",
        "S. E. Finch, J. D. Finch, J. D. Choi: Don't Forget Your ABC's: Evaluating the State-of-the-Art in"
        " Chat-Oriented Dialogue Systems. ACL 2023, 15044-15071.",
        "https://doi.org/10.18653/v1/2023.acl-long.839",
    ),
    Reference(
        "fleiss1971",
        "J. L. Fleiss: Measuring Nominal Scale Agreement Among Many Raters."
        " Psychological Bulletin 76(5), 1971, 378-382.",
        "https://doi.org/10.1037/h0031619",
    ),
)


@dataclass(frozen=True)
class Prose:
    """Sentences with numbered citations, and the works in the order of their numbers."""

    sentences: tuple[str, ...]
    references: tuple[Reference, ...]


@dataclass
class Citations:
    """Numbers works in the order in which sentences cite them."""

    _cited: list[str] = field(default_factory=list)

    def cite(self, key: str) -> str:
        """Return the number of a work in brackets."""
        if key not in self._cited:
            self._cited.append(key)
        return f"[{self._cited.index(key) + 1}]"

    @property
    def works(self) -> tuple[Reference, ...]:
        """Return the cited works in the order of their numbers."""
        works = {work.key: work for work in _WORKS}
        return tuple(works[key] for key in self._cited)
