"""Imports that the contracts of `fed` forbid: the file of each, the line to plant, and the chain that is printed."""

FED = {
    "a noun of FED imports the noun that is made of it": (
        "services/spotthebot/fed/score_sets/store.py",
        "from spotthebot.fed.score_jobs import errors as _",
        "spotthebot.fed.score_sets.store -> spotthebot.fed.score_jobs.errors",
    ),
    "a domain of FED imports SQL of its noun": (
        "services/spotthebot/fed/likelihoods/domain.py",
        "from spotthebot.fed.likelihoods import store as _",
        "spotthebot.fed.likelihoods.domain -> spotthebot.fed.likelihoods.store",
    ),
    "a domain of FED imports SQL of a noun below": (
        "services/spotthebot/fed/correlations/domain.py",
        "from spotthebot.fed.score_sets import store as _",
        "spotthebot.fed.correlations.domain -> spotthebot.fed.score_sets.store",
    ),
    "SQL of FED imports use cases of a noun below": (
        "services/spotthebot/fed/metrics/store.py",
        "from spotthebot.fed.score_sets import use_cases as _",
        "spotthebot.fed.metrics.store -> spotthebot.fed.score_sets.use_cases",
    ),
    "use cases of FED import HTTP of a noun below": (
        "services/spotthebot/fed/correlations/use_cases.py",
        "from spotthebot.fed.score_sets import api as _",
        "spotthebot.fed.correlations.use_cases -> spotthebot.fed.score_sets.api",
    ),
    "errors of FED import a framework": (
        "services/spotthebot/fed/scores/errors.py",
        "import sqlalchemy as _",
        "spotthebot.fed.scores.errors -> sqlalchemy",
    ),
    "FED's rules import how models run": (
        "services/spotthebot/fed/dialogues/domain/dialogues.py",
        "from spotthebot.inference import model_files as _",
        "spotthebot.fed.dialogues.domain.dialogues -> spotthebot.inference.model_files",
    ),
    "a noun of FED has a file of another name": (
        "services/spotthebot/fed/ratings/attic.py",
        "",
        "spotthebot.fed.ratings.attic",
    ),
    "FED has a module beside its nouns": ("services/spotthebot/fed/attic.py", "", "spotthebot.fed.attic"),
}
