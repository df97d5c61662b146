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
from spotthebot.local.runtime.session import Clients
from spotthebot.local.seeding import simulated_annotators
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

BOTS = {"one", "other", "third"}
STUDY = """\
name: small
collections: [im]
outcome: dialogue_likert.quality
seed: 3
tasks:
  - {protocol: dialogue_likert, units_twice: 6}
  - {name: pairs, protocol: comparative}
"""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = tmp_path / "study.yaml"
    written.write_text(STUDY)
    return written


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    """Run a command as an administrator, with twelve conversations between three bots."""
    pairs = [("one", "other"), ("one", "third"), ("other", "third")] * 4
    await import_conversations(suite, [conversation(f"c{at}", *pair) for at, pair in enumerate(pairs)])
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


@pytest.fixture
async def annotated(stb: Stb, clients: Clients, file: Path) -> Stb:
    """Have six simulated annotators complete the study."""
    with showing_progress() as steps:
        made = await declare(clients, read_study(file), steps, opens=True)
        await work_on(clients, made.study, simulated_annotators(6, seed=1), steps)
    return stb


class TestStudy:
    async def test_prints_what_it_costs_makes_it_and_says_that_it_was_made_before(self, stb: Stb, file: Path):
        tried = await stb("study", file, "--dry-run")
        assert tried.returncode == 0, tried.stderr
        assert [line.split()[0] for line in tried.stdout.splitlines()] == ["Task", "dialogue_likert", "pairs", "all"]
        made = await stb("study", file, "--json", "-")
        account = json.loads(made.stdout)
        assert (account["name"], account["outcome"]) == ("small", "dialogue_likert.quality")
        assert [(each["task"], each["name"], each["conversations"]["used"]) for each in account["tasks"]] == [
            ("dialogue_likert", "small.dialogue_likert", 12),
            ("pairs", "small.pairs", 12),
        ]
        again = await stb("study", file, "--open")
        assert "Nothing was changed" not in again.stderr
        assert f"Study small ({account['study']}), made before" in again.stderr
        last = await stb("study", file)
        assert "Nothing was changed." in last.stderr
        assert "Try it: ./stb annotate small --simulated 12" in last.stderr

    async def test_refuses_another_file_of_the_name_with_one_sentence(self, stb: Stb, file: Path):
        await stb("study", file)
        file.write_text(STUDY.replace("seed: 3", "seed: 4"))
        done = await stb("study", file)
        assert done.returncode == 1
        assert "seed is 3 there, 4 here" in done.stderr
        assert done.stderr.splitlines()[-1].endswith("choose another name, or change it with --change.")


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

    async def test_delete_leaves_the_campaigns(self, annotated: Stb):
        refused = await annotated("studies", "delete", "small")
        assert refused.returncode == 1
        done = await annotated("studies", "delete", "small", "--yes")
        assert "is deleted; its campaigns are still there." in done.stderr
        assert (await annotated("studies")).stderr == "There is no study: ./stb study FILE makes one.\n"
        assert "small.pairs" in (await annotated("campaigns")).stdout

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

    async def test_assess_without_an_outcome_is_one_sentence(self, stb: Stb, file: Path):
        file.write_text(STUDY.replace("outcome: dialogue_likert.quality\n", ""))
        await stb("study", file)
        done = await stb("studies", "assess", "small")
        assert done.returncode == 1
        assert "names no outcome" in done.stderr


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

    async def test_without_an_outcome_shows_the_measures_alone(self, stb: Stb, file: Path):
        file.write_text(STUDY.replace("outcome: dialogue_likert.quality\n", ""))
        await stb("study", file)
        found = json.loads((await stb("rank", "small", "--json", "-")).stdout)
        assert (found["outcome"], len(found["measures"])) == (None, 16)
        done = await stb("rank", "small")
        assert "All measures: --measure NAME shows one" in done.stdout
        assert "Pairs" not in done.stdout

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

    @pytest.mark.parametrize(
        ("outcome", "reason"),
        [
            (
                "outcome: dialogue_likert.quality\n",
                "Nobody has rated &#39;dialogue_likert.quality&#39;, the outcome of",
            ),
            ("outcome: kindness\n", "&#39;small&#39; has no measure &#39;kindness&#39;: there are dialogue_likert."),
            ("", "The study names no outcome"),
        ],
    )
    async def test_says_why_nothing_is_assessed(self, stb: Stb, file: Path, tmp_path: Path, outcome: str, reason: str):
        file.write_text(STUDY.replace("outcome: dialogue_likert.quality\n", outcome))
        await stb("study", file)
        done = await stb("report", "small", "--out", tmp_path / "report")
        assert done.returncode == 0, done.stderr
        text = (tmp_path / "report" / "report.html").read_text()
        assert reason in text
        assert "Preliminary" in text
        assert 'id="assessment-section"' not in text
