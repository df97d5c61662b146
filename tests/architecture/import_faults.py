"""Faults against the import contracts: by what is wrong, the file, the line to plant there, and the chain printed."""

FAULTS = {
    "a service imports another": (
        "services/spotthebot/conversations/control/use_cases.py",
        "from spotthebot.bots.probes import store as _",
        "spotthebot.conversations.control.use_cases -> spotthebot.bots.probes.store",
    ),
    "a service imports what runs a suite": (
        "services/spotthebot/bots/registry/use_cases.py",
        "from spotthebot.local import background as _",
        "spotthebot.bots.registry.use_cases -> spotthebot.local.background",
    ),
    "what runs a suite imports the command line": (
        "services/spotthebot/local/background.py",
        "from spotthebot.cli import campaigns as _",
        "spotthebot.local.background -> spotthebot.cli.campaigns",
    ),
    "the command line imports a service": (
        "services/spotthebot/cli/campaigns/run.py",
        "from spotthebot.annotation.packages.domain import allocation as _",
        "spotthebot.cli.campaigns.run -> spotthebot.annotation.packages.domain.allocation",
    ),
    "importers import operations": (
        "services/spotthebot/importers/corpora.py",
        "from spotthebot.operations import backups as _",
        "spotthebot.importers.corpora -> spotthebot.operations.backups",
    ),
    "readers import a client": (
        "services/spotthebot/readers/labels.py",
        "from spotthebot.clients import channel as _",
        "spotthebot.readers.labels -> spotthebot.clients.channel",
    ),
    "kit imports a service": (
        "shared/spotthebot/kit/ids.py",
        "from spotthebot.annotation.campaigns import errors as _",
        "spotthebot.kit.ids -> spotthebot.annotation.campaigns.errors",
    ),
    "inference imports a service": (
        "shared/spotthebot/inference/model_files.py",
        "from spotthebot.bots.bots import errors as _",
        "spotthebot.inference.model_files -> spotthebot.bots.bots.errors",
    ),
    "a model imports what is not copied beside it": (
        "shared/spotthebot/inference/models/protocol.py",
        "from spotthebot.kit import errors as _",
        "spotthebot.inference.models.protocol -> spotthebot.kit.errors",
    ),
    "clients import a service": (
        "shared/spotthebot/clients/errors.py",
        "from spotthebot.bots.bots import errors as _",
        "spotthebot.clients.errors -> spotthebot.bots.bots.errors",
    ),
    "contracts import kit": (
        "shared/spotthebot/contracts/wire.py",
        "from spotthebot.kit import errors as _",
        "spotthebot.contracts.wire -> spotthebot.kit.errors",
    ),
    "a table imports the SQL of its noun": (
        "services/spotthebot/annotation/annotators/tables.py",
        "from spotthebot.annotation.annotators import store as _",
        "spotthebot.annotation.annotators.tables -> spotthebot.annotation.annotators.store",
    ),
    "a noun imports one above it": (
        "services/spotthebot/annotation/protocols/store.py",
        "from spotthebot.annotation.campaigns import store as _",
        "spotthebot.annotation.protocols.store -> spotthebot.annotation.campaigns.store",
    ),
    "a domain imports the SQL of a noun below": (
        "services/spotthebot/annotation/assignments/domain/gold.py",
        "from spotthebot.annotation.campaigns import store as _",
        "spotthebot.annotation.assignments.domain.gold -> spotthebot.annotation.campaigns.store",
    ),
    "SQL imports a use case of a noun below": (
        "services/spotthebot/annotation/packages/store.py",
        "from spotthebot.annotation.campaigns import use_cases as _",
        "spotthebot.annotation.packages.store -> spotthebot.annotation.campaigns.use_cases",
    ),
    "a use case imports an endpoint of a noun below": (
        "services/spotthebot/annotation/reviews/use_cases.py",
        "from spotthebot.annotation.payments import api as _",
        "spotthebot.annotation.reviews.use_cases -> spotthebot.annotation.payments.api",
    ),
    "errors import a framework": (
        "services/spotthebot/annotation/leases/errors.py",
        "import sqlalchemy as _",
        "spotthebot.annotation.leases.errors -> sqlalchemy",
    ),
    "a noun has a file of another name": (
        "services/spotthebot/annotation/campaigns/attic.py",
        "",
        "spotthebot.annotation.campaigns.attic",
    ),
    "a service has a module beside its nouns": (
        "services/spotthebot/annotation/attic.py",
        "",
        "spotthebot.annotation.attic",
    ),
    "a noun imports another that is made of it": (
        "services/spotthebot/conversations/texts/domain.py",
        "from spotthebot.conversations.plans import errors as _",
        "spotthebot.conversations.texts.domain -> spotthebot.conversations.plans.errors",
    ),
    "errors import the domain of their noun": (
        "services/spotthebot/conversations/collections/errors.py",
        "from spotthebot.conversations.collections import domain as _",
        "spotthebot.conversations.collections.errors -> spotthebot.conversations.collections.domain",
    ),
    "a domain imports the use cases of another noun": (
        "services/spotthebot/conversations/mixes/domain.py",
        "from spotthebot.conversations.conversations import use_cases as _",
        "spotthebot.conversations.mixes.domain -> spotthebot.conversations.conversations.use_cases",
    ),
    "SQL imports the use cases of another noun": (
        "services/spotthebot/conversations/exports/store.py",
        "from spotthebot.conversations.conversations import use_cases as _",
        "spotthebot.conversations.exports.store -> spotthebot.conversations.conversations.use_cases",
    ),
    "use cases import HTTP of another noun": (
        "services/spotthebot/conversations/mixes/use_cases.py",
        "from spotthebot.conversations.collections import api as _",
        "spotthebot.conversations.mixes.use_cases -> spotthebot.conversations.collections.api",
    ),
    "protocols of bots import what asks by them": (
        "services/spotthebot/bots/protocols/speaker.py",
        "from spotthebot.bots.context import BotsContext as _",
        "spotthebot.bots.protocols.speaker -> spotthebot.bots.context",
    ),
    "a noun of bots imports the noun that is made of it": (
        "services/spotthebot/bots/hosted_models/store.py",
        "from spotthebot.bots.hosting import use_cases as _",
        "spotthebot.bots.hosted_models.store -> spotthebot.bots.hosting.use_cases",
    ),
    "a domain of bots imports SQL of its noun": (
        "services/spotthebot/bots/bots/domain.py",
        "from spotthebot.bots.bots import store as _",
        "spotthebot.bots.bots.domain -> spotthebot.bots.bots.store",
    ),
    "a domain of bots imports SQL of a noun below": (
        "services/spotthebot/bots/probes/domain/conformance.py",
        "from spotthebot.bots.hosted_models import store as _",
        "spotthebot.bots.probes.domain.conformance -> spotthebot.bots.hosted_models.store",
    ),
    "SQL of bots imports use cases of a noun below": (
        "services/spotthebot/bots/probes/store.py",
        "from spotthebot.bots.metrics import use_cases as _",
        "spotthebot.bots.probes.store -> spotthebot.bots.metrics.use_cases",
    ),
    "use cases of bots import HTTP of a noun below": (
        "services/spotthebot/bots/registry/use_cases.py",
        "from spotthebot.bots.replies.api import openai as _",
        "spotthebot.bots.registry.use_cases -> spotthebot.bots.replies.api.openai",
    ),
    "a noun of analytics imports one that is made of it": (
        "services/spotthebot/analytics/values/domain/values.py",
        "from spotthebot.analytics.measures import errors as _",
        "spotthebot.analytics.values.domain.values -> spotthebot.analytics.measures.errors",
    ),
    "a record of analytics imports the clients above it": (
        "services/spotthebot/analytics/games/domain.py",
        "from spotthebot.analytics.clients import answers as _",
        "spotthebot.analytics.games.domain -> spotthebot.analytics.clients.answers",
    ),
    "figures import results": (
        "services/spotthebot/analytics/figures/labels.py",
        "from spotthebot.analytics.results.domain import analysis as _",
        "spotthebot.analytics.figures.labels -> spotthebot.analytics.results.domain.analysis",
    ),
    "errors of analytics import the domain of their noun": (
        "services/spotthebot/analytics/labels/errors.py",
        "from spotthebot.analytics.labels import domain as _",
        "spotthebot.analytics.labels.errors -> spotthebot.analytics.labels.domain",
    ),
    "a domain of analytics imports SQL of a noun below": (
        "services/spotthebot/analytics/studies/domain.py",
        "from spotthebot.analytics.kept_results import store as _",
        "spotthebot.analytics.studies.domain -> spotthebot.analytics.kept_results.store",
    ),
    "SQL of analytics imports use cases of a noun below": (
        "services/spotthebot/analytics/standings/store.py",
        "from spotthebot.analytics.campaigns import use_cases as _",
        "spotthebot.analytics.standings.store -> spotthebot.analytics.campaigns.use_cases",
    ),
    "use cases of analytics import HTTP of a noun below": (
        "services/spotthebot/analytics/leaderboards/use_cases.py",
        "from spotthebot.analytics.standings import api as _",
        "spotthebot.analytics.leaderboards.use_cases -> spotthebot.analytics.standings.api",
    ),
    "a domain of analytics imports a framework": (
        "services/spotthebot/analytics/table_files/domain.py",
        "import starlette as _",
        "spotthebot.analytics.table_files.domain -> starlette",
    ),
    "a noun of analytics has a file of another name": (
        "services/spotthebot/analytics/games/attic.py",
        "",
        "spotthebot.analytics.games.attic",
    ),
    "analytics has a module beside its nouns": (
        "services/spotthebot/analytics/attic.py",
        "",
        "spotthebot.analytics.attic",
    ),
    "a noun of the pages imports one that shows it": (
        "services/spotthebot/web/packages/pages.py",
        "from spotthebot.web.entries.pages import entry as _",
        "spotthebot.web.packages.pages -> spotthebot.web.entries.pages",
    ),
    "a form imports the page that shows it": (
        "services/spotthebot/web/bots/forms.py",
        "from spotthebot.web.bots.pages import one_bot as _",
        "spotthebot.web.bots.forms -> spotthebot.web.bots.pages.one_bot",
    ),
    "a domain of the pages imports a form of a noun below": (
        "services/spotthebot/web/annotators/domain.py",
        "from spotthebot.web.layout import forms as _",
        "spotthebot.web.annotators.domain -> spotthebot.web.layout.forms",
    ),
    "a form imports a page of a noun below": (
        "services/spotthebot/web/campaigns/forms.py",
        "from spotthebot.web.packages import pages as _",
        "spotthebot.web.campaigns.forms -> spotthebot.web.packages.pages",
    ),
    "a form imports a framework": (
        "services/spotthebot/web/chats/forms.py",
        "import starlette as _",
        "spotthebot.web.chats.forms -> starlette",
    ),
    "a noun of the pages has a file of another name": (
        "services/spotthebot/web/games/attic.py",
        "",
        "spotthebot.web.games.attic",
    ),
    "the pages have a module beside their nouns": ("services/spotthebot/web/attic.py", "", "spotthebot.web.attic"),
    "a domain imports a framework": (
        "services/spotthebot/conversations/plans/domain.py",
        "import sqlalchemy as _",
        "spotthebot.conversations.plans.domain -> sqlalchemy",
    ),
    "a domain reaches a framework by a detour": (
        "services/spotthebot/bots/questions/domain/dialogue.py",
        "from spotthebot.kit import settings as _",
        "spotthebot.kit.settings -> pydantic_settings",
    ),
    "statistics import a wire schema": (
        "services/spotthebot/analytics/stats/wins.py",
        "from spotthebot.contracts import analytics as _",
        "spotthebot.analytics.stats.wins -> spotthebot.contracts.analytics",
    ),
    "the product imports a tool": (
        "services/spotthebot/cli/commands/status.py",
        "from tools import pins as _",
        "spotthebot.cli.commands.status -> tools",
    ),
    "a module that no layer names": ("services/spotthebot/bots/attic.py", "", "spotthebot.bots.attic"),
    "a module of a noun of bots that no layer names": (
        "services/spotthebot/bots/questions/attic.py",
        "",
        "spotthebot.bots.questions.attic",
    ),
    "a module of a noun that no layer names": (
        "services/spotthebot/conversations/texts/attic.py",
        "",
        "spotthebot.conversations.texts.attic",
    ),
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
