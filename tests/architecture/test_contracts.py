"""The rules of the project that no reader should have to check by hand."""

import ast
import io
import keyword
import os
import re
import shutil
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

from tests.architecture.faults_of_fed import FED

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "services", ROOT / "shared"]
VAGUE = {"service.py", "utils.py", "helpers.py", "common.py", "manager.py", "base.py"}
NOUNS = {
    *("annotation", "annotator", "annotators", "bot", "bots", "campaign", "campaigns", "collection", "collections"),
    *("conversation", "conversations", "corpora", "corpus", "dialogue", "dialogues", "label"),
    *("opening", "packages", "participant", "ranking", "reply", "replies", "segment", "study", "turn", "turns"),
}
OTHERS = {"spotthebot", "collections"}  # the namespace, and the standard library's
EXPORTS = {
    "shared/spotthebot/clients/__init__.py": "names the clients for programs of users",
    "services/spotthebot/analytics/stats/__init__.py": "names the statistics for notebooks of users",
    "services/spotthebot/analytics/figures/__init__.py": "names the plots for notebooks of users",
}
"""The only packages that name again what their modules define, and for whom."""
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"

FAULTS = FED | {
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
        "spotthebot.web.packages.pages -> spotthebot.web.entries.pages.entry",
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
        "services/spotthebot/web/trainings/forms.py",
        "import starlette as _",
        "spotthebot.web.trainings.forms -> starlette",
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
}


class TestImports:
    def test_keep_to_the_contracts(self):
        linted = _lint(ROOT)
        assert linted.returncode == 0, linted.stdout[-4000:]

    def test_are_named_where_they_break_a_contract(self, tmp_path: Path):
        """Plant one fault of each kind in a copy of the sources, and see the chain printed."""
        for source in SOURCES:
            shutil.copytree(source, tmp_path / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", tmp_path)
        for file, line, _ in FAULTS.values():
            with (tmp_path / file).open("a") as planted:
                planted.write(f"\n{line}\n")
        paths = os.pathsep.join(str(tmp_path / source.name) for source in SOURCES)
        linted = _lint(tmp_path, PYTHONPATH=paths, COLUMNS="200")  # so that a chain is one line
        assert linted.returncode == 1, linted.stdout + linted.stderr
        unnoticed = [fault for fault, (_, _, chain) in FAULTS.items() if chain not in linted.stdout]
        assert unnoticed == [], linted.stdout


class TestNamespace:
    @pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
    def test_holds_no_init_file(self, source: Path):
        """A stray `spotthebot/__init__.py` in one source root would hide the other."""
        assert (source / "spotthebot").is_dir()
        assert not (source / "spotthebot" / "__init__.py").exists()

    def test_spans_both_source_roots(self):
        program = "import spotthebot.kit, spotthebot.bots, spotthebot; print(*spotthebot.__path__, sep='\\n')"
        printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert len(set(printed.stdout.split("\n")) - {""}) >= 2


class TestPackages:
    def test_import_nothing_of_ours(self):
        """A name has one home: callers import it from the module that defines it."""
        files = [path for folder in (*SOURCES, ROOT / "tools") for path in folder.rglob("__init__.py")]
        found = {str(path.relative_to(ROOT)) for path in files if _imports_ours(path.read_text())}
        assert found == EXPORTS.keys(), (
            "import from the module that defines a name, or say here for whom it is exported"
        )

    @pytest.mark.parametrize(
        "planted",
        [
            "from spotthebot.kit.jobs.queue import Jobs",
            "import spotthebot.kit.jobs.queue",
            "from .queue import Jobs",
            "def late():\n    from . import queue",
        ],
    )
    def test_would_be_caught_naming_again_what_a_module_defines(self, planted: str):
        assert _imports_ours(planted)

    def test_may_define_names_of_their_own(self):
        assert not _imports_ours("from pathlib import Path\n\nROOT = Path(__file__).parents[1]")


class TestFiles:
    def test_are_no_longer_than_400_lines(self):
        files = _files()
        assert len(files) > 100
        lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}
        assert {name: length for name, length in lengths.items() if length > 400} == {}

    def test_have_names_that_say_what_is_inside(self):
        assert [str(path.relative_to(ROOT)) for path in _files() if path.name in VAGUE] == []

    def test_say_in_their_first_line_what_they_are_for(self):
        silent = [
            str(path.relative_to(ROOT))
            for source in (*SOURCES, ROOT / "tools")
            for path in source.rglob("*.py")
            if not path.read_text().startswith('"""')
        ]
        assert silent == []


class TestApplicationState:
    def test_holds_four_objects_one_of_them_the_resources_of_the_service(self):
        sources = [path.read_text() for folder in SOURCES for path in folder.rglob("*.py")]
        names = {name for source in sources for name in re.findall(r"\bapp\.state\.(\w+)", source)}
        assert names == {"core", "database", "bearer", "resources"}


class TestKit:
    def test_knows_no_noun_of_our_domain(self):
        """Kit could serve any product: it must not know what a bot or a campaign is."""
        kit = ROOT / "shared" / "spotthebot" / "kit"
        found = {str(path.relative_to(kit)): nouns for path in kit.rglob("*.py") if (nouns := _nouns(path.read_text()))}
        assert found == {}

    @pytest.mark.parametrize(
        "planted", ["def close_campaign(): ...", "class BotRow: ...", "x.turns = 1", "def f(*, corpus_id): ..."]
    )
    def test_would_be_caught_learning_one(self, planted: str):
        assert _nouns(planted)

    def test_may_speak_of_things_in_prose(self):
        assert _nouns('"""Not a word of a campaign."""  # nor of a bot\n') == set()


def _lint(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _imports_ours(source: str) -> bool:
    return any(
        (isinstance(node, ast.ImportFrom) and (node.level > 0 or str(node.module).split(".")[0] == "spotthebot"))
        or (isinstance(node, ast.Import) and any(each.name.split(".")[0] == "spotthebot" for each in node.names))
        for node in ast.walk(ast.parse(source))
    )


def _files() -> list[Path]:
    return [path for folder in (*SOURCES, ROOT / "tools", ROOT / "tests") for path in folder.rglob("*.py")]


def _nouns(source: str) -> set[str]:
    """Return the nouns of our domain among the words of a source's identifiers."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    names = {token.string for token in tokens if token.type == tokenize.NAME and not keyword.iskeyword(token.string)}
    words = {word.lower() for name in names - OTHERS for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    return words & NOUNS
