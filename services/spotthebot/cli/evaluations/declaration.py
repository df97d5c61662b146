"""The keys of an evaluation's file: the keys of a collection, and how to score its conversations."""

from pydantic import ConfigDict, Field, JsonValue

from spotthebot.cli.collections.declaration import Bot, OpeningFrom, Partners
from spotthebot.contracts.conversations.collections import PlanSettings
from spotthebot.contracts.fed.score_jobs import ScoreRankingSettings
from spotthebot.contracts.fed.scorers import Level, Mode, OverLong, PolarityChoice, SetRule
from spotthebot.contracts.wire import Domain, Name, Wire

_EXAMPLES: list[JsonValue] = [
    {
        "name": "league-1",
        "domain": "everyday",
        "bots": ["retrieval", "ngram", "dull"],
        "partners": ["eliza", "parrot"],
        "exchanges": 5,
        "conversations_per_pair": 20,
        "opening": {"corpus": "sample", "split": "openings", "take": "first_two_utterances", "shown": True},
        "scorer": {
            "model": "scorer",
            "mode": "followup_mean",
            "polarity": "negatives",
            "dimensions": ["overall", "sensibleness", "specificity", "fluency"],
        },
        "seed": 3,
    }
]


class ScorerFrom(Wire):
    """The language model that scores, and the rule that makes scores from its likelihoods."""

    model: Name = Field(
        description="Directory of a model, from the file's folder or from here; a name on the hub; or triton:NAME."
    )
    mode: Mode = Field(
        default="followup_mean",
        description='What of a follow-up counts: see "Score dialogues with FED" in the documentation.',
    )
    polarity: PolarityChoice = Field(default="negatives", description="Which follow-ups count.")
    set_rule: SetRule = Field(default="mean", description="How the follow-ups of a polarity are summed up.")
    dimensions: tuple[Name, ...] = Field(
        default=("overall", "sensibleness", "specificity", "fluency"),
        min_length=1,
        max_length=100,
        description="Dimensions of the set; the ranking is that of the first.",
    )
    dimension_set: Name = Field(default="bipartite", description="Set of dimensions: fed, bipartite, or one of yours.")
    dimension_set_version: int = Field(default=1, ge=1, lt=2**31, description="Its version.")
    level: Level = Field(default="turn", description="Score after each turn of a bot, or after its last.")
    over_long: OverLong = Field(
        default="error", description="What happens to a context that the model can't read whole."
    )


class ScoredPlan(ScoreRankingSettings, PlanSettings):
    """How bots converse, and how their conversations are scored: what every evaluation's file has."""

    name: Name = Field(description="What the evaluation is called.")
    domain: Domain = Field(description="What is talked about, such as `everyday`.")
    partners: Partners = Field(
        default=(),
        description="In bipartite-play: bots, which are kept as a partner set, or such a set by name and version.",
    )
    opening: OpeningFrom | None = Field(default=None, description="How conversations begin; nothing: with a bot.")
    scorer: ScorerFrom = Field(description="The language model, and how its likelihoods become scores.")


class EvaluationDeclaration(ScoredPlan):
    """An evaluation for `./stb evaluate` (Sato et al. 2022)."""

    model_config = ConfigDict(title="Evaluation", json_schema_extra={"examples": _EXAMPLES})

    bots: tuple[Bot, ...] = Field(min_length=1, max_length=100, description="Who is ranked; in bipartite, the targets.")
