"""The commands of studies, on a study that simulated annotators have completed."""

import csv
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from spotthebot.cli.studies.declaration_file import read_study
from spotthebot.cli.studies.run import declare
from spotthebot.cli.studies.work import work_on
from spotthebot.local.progress import showing_progress
from spotthebot.local.seeding import simulated_annotators
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.command_line_fixtures import clients_of
from tests.factories.declared_studies import STUDY, import_talks
from tests.factories.running_suite import RunningSuite

BOTS = {"one", "other", "third"}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


@pytest.fixture(scope="module")
async def annotated(module_suite: RunningSuite, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stb]:
    """Run a command that only reads, as an administrator, with a study that six simulated annotators completed."""
    await import_talks(module_suite)
    file = tmp_path_factory.mktemp("study") / "study.yaml"
    file.write_text(STUDY)
    with pytest.MonkeyPatch.context() as patched, showing_progress() as steps:
        async with clients_of(module_suite) as clients, stb_of_admin(module_suite, patched) as run:
            made = await declare(clients, read_study(file), steps, opens=True)
            await work_on(clients, made.study, simulated_annotators(6, seed=1), steps)
            yield run


class TestStudies:
    async def test_lists_and_shows_them(self, annotated: Stb):
        listed = await annotated("studies")
        header, row = listed.stdout.splitlines()
        assert header.split() == ["Name", "Tasks", "Outcome", "Id"]
        assert row.split()[:3] == ["small", "2", "dialogue_likert.quality"]
        shown = await annotated("studies", "show", "small")
        assert "Outcome  dialogue_likert.quality" in shown.stdout
        assert "small.dialogue_likert  dialogue_likert  complete  18 of 18" in shown.stdout
        as_json = json.loads((await annotated("studies", "show", "small", "--json")).stdout)
        assert (as_json["name"], len(as_json["campaigns"])) == ("small", 2)
        assert json.loads((await annotated("studies", "--json")).stdout) == {"studies": [as_json]}

    async def test_values_can_be_assessed_as_a_table(self, annotated: Stb, tmp_path: Path):
        out = tmp_path / "values.csv"
        done = await annotated("studies", "values", "small", "--out", out)
        assert done.returncode == 0, done.stderr
        rows = list(csv.DictReader(out.read_text().splitlines()))
        assert f"{len(rows)} values: ./stb analyse table {out}" in done.stderr
        # Eight questions about both sides of each dialogue, of 12 dialogues once and of 6 of them twice.
        assert sum(row["dimension"].startswith("dialogue_likert.") for row in rows) == 8 * 2 * (12 + 6)
        table = await annotated("analyse", "table", out, "--yes", "--assess", "dialogue_likert.quality", "--json", "-")
        found = json.loads((await annotated("studies", "assess", "small", "--json", "-")).stdout)
        of_table = {each["name"]: each["r2"] for each in json.loads(table.stdout)["measures"]}
        assert of_table == pytest.approx({each["name"]: each["r2"] for each in found["measures"]})

    async def test_values_are_events_of_opentelemetry_on_demand(self, annotated: Stb, tmp_path: Path):
        table, events = tmp_path / "values.csv", tmp_path / "events.jsonl"
        assert (await annotated("studies", "values", "small", "--out", table)).returncode == 0
        done = await annotated("studies", "values", "small", "--out", events, "--events")
        assert done.returncode == 0, done.stderr
        rows = list(csv.DictReader(table.read_text().splitlines()))
        exports = [
            json.loads(line)["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
            for line in events.read_text().splitlines()
        ]
        records = [record for export in exports for record in export]
        assert (len(records), {record["eventName"] for record in records}) == (len(rows), {"gen_ai.evaluation.result"})
        found = [{each["key"]: min(each["value"].values()) for each in record["attributes"]} for record in records]
        names = ("gen_ai.evaluation.name", "gen_ai.conversation.id", "gen_ai.agent.name", "spotthebot.annotator_kind")
        columns = ("dimension", "conversation", "bot", "annotator_kind")
        said = [(*(each.get(name, "") for name in names), each["gen_ai.evaluation.score.value"]) for each in found]
        assert said == [(*(row[column] for column in columns), float(row["value"])) for row in rows]

    async def test_assess_says_which_measures_to_keep(self, annotated: Stb, tmp_path: Path):
        out = tmp_path / "assessment.json"
        done = await annotated("studies", "assess", "small", "--json", out)
        assert done.returncode == 0, done.stderr
        found = json.loads(out.read_text())
        assert "Measures against dialogue_likert.quality" in done.stdout
        assert "dialogue_likert: 18 annotations by the protocol dialogue_likert, " in done.stdout
        assert "Simulated annotators and judges are programs" in done.stderr
        assert " ".join(found["sentences"][0].split()) in " ".join(done.stdout.split())
        assert found["outcome"] == "dialogue_likert.quality"
        assert {"name", "level", "n", "alpha", "r2", "p_value", "pairs_told_apart", "minutes", "reason"} <= set(
            found["measures"][0]
        )
        assert set(found["measures"][0]["pairs_told_apart"]) == {"0.1", "0.05", "0.01"}
        assert len(found["measures"]) == 8 + 8 - 1
        assert set(found["keep"]) <= {each["name"] for each in found["measures"]}


class TestRank:
    async def test_goes_by_the_outcome_and_shows_every_measure(self, annotated: Stb):
        done = await annotated("rank", "small")
        assert done.returncode == 0, done.stderr
        assert "By mean dialogue_likert.quality, " in done.stdout
        assert "All measures: --measure NAME shows one" in done.stdout
        assert " pairs.engaging " in done.stdout

    async def test_by_one_measure_as_json_has_the_bots_the_pairs_and_the_method(self, annotated: Stb):
        done = await annotated("rank", "small", "--measure", "pairs.quality", "--json", "-")
        found = json.loads(done.stdout)
        assert (found["measure"], found["kind"]) == ("pairs.quality", "preference")
        assert {each["bot"] for each in found["bots"]} == BOTS
        assert {"estimate", "low", "high", "n", "rank_low", "rank_high"} <= set(found["bots"][0])
        assert len(found["pairs"]) == 3
        assert found["method"]

    async def test_by_an_unknown_measure_names_those_that_there_are(self, annotated: Stb):
        done = await annotated("rank", "small", "--measure", "fluency")
        assert done.returncode == 1
        assert done.stderr.startswith(
            "Error: 'small' has no measure 'fluency': there are dialogue_likert.grammatical, "
        )

    async def test_takes_no_options_of_labels(self, annotated: Stb):
        done = await annotated("rank", "small", "--unit", "conversation", "--weak-threshold", "0.75")
        assert done.returncode == 1
        assert done.stderr.strip() == (
            "Error: Results by the measures of the study 'small' take no --unit and no --weak-threshold:"
            " repeat the command without."
        )


class TestReport:
    async def test_has_the_ranking_the_assessment_and_a_section_for_each_task(self, annotated: Stb, tmp_path: Path):
        folder = tmp_path / "report"
        done = await annotated("report", "small", "--out", folder)
        assert done.returncode == 0, done.stderr
        text = (folder / "report.html").read_text()
        assert "<h1>small</h1>" in text
        assert "<strong>Simulated annotators.</strong>" in text
        assert "<h3>dialogue_likert</h3>" in text
        assert "<h3>pairs</h3>" in text
        tables = {each.stem for each in (folder / "csv").iterdir()}
        assert {"ranking", "pairs", "assessment", "sensitivity", "tasks", "task_pairs"} <= tables
        assert {each.stem for each in (folder / "figures").glob("*.svg")} == {
            "agreement",
            "importance",
            "sensitivity",
            "steps",
        }
        document = json.loads((folder / "report.json").read_text())
        assessed = json.loads((await annotated("studies", "assess", "small", "--json", "-")).stdout)
        assert document["assessment"] == assessed
        assert document["outcome"]["measure"] == "dialogue_likert.quality"
