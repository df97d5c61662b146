"""What a study's file may say, and every fault of one."""

import json
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from spotthebot.cli.campaigns.declaration_file import CampaignTerms, Declaration, Pay
from spotthebot.cli.declarations.declared import schema_text
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.studies.declaration_file import StudyDeclaration, Task, read_study
from tests.factories.command_line import run_stb
from tests.factories.protocols import document, single

ROOT = Path(__file__).parents[2]
EXAMPLE = """\
name: abc-small
collections: [everyday-1]
chats: [talks]                       # optional: collections whose interactors rated
tasks:
  - {protocol: abc_consistency, units_twice: 12}
  - {protocol: dialogue_likert, units_twice: 12, packages_per_annotator: 60}
  - {protocol: comparative}
outcome: quality
seed: 11
"""
SHORT = "name: x\ncollections: [a]\ntasks:\n"
LONG = "n" * 99


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "study.yaml"


def _campaigns(file: Path, text: str) -> dict[str, Declaration]:
    """Return the declarations of a file's campaigns by the names of the tasks."""
    file.write_text(text)
    return {task.name: task.campaign.request for task in read_study(file).tasks}


def _faults(file: Path, text: str) -> list[str]:
    """Return the faults that are reported of a file, without the file's name."""
    file.write_text(text)
    with pytest.raises(DeclarationFaulty) as raised:
        read_study(file)
    return [line.removeprefix(f"{file}, ") for line in str(raised.value).splitlines()]


class TestTasks:
    def test_are_campaigns_over_the_collections_of_the_study(self, file: Path):
        found = _campaigns(file, EXAMPLE)
        assert found == {
            task: Declaration(
                name=f"abc-small.{task}",
                collections=("everyday-1",),
                protocol=task,
                annotations_per_segment=1,
                units_twice=twice,
                packages_per_annotator=limit,
                seed=11,
            )
            for task, twice, limit in (
                ("abc_consistency", 12, None),
                ("dialogue_likert", 12, 60),
                ("comparative", None, None),
            )
        }

    def test_may_have_a_name_and_a_seed_of_their_own_and_several_annotators(self, file: Path):
        found = _campaigns(
            file,
            f"{SHORT}  - {{name: first, protocol: comparative, seed: 0, annotations_per_segment: 3}}\n"
            "  - {protocol: comparative, pay: {per_package: 1.5, currency: EUR}}\nseed: 5\n",
        )
        assert {name: each.name for name, each in found.items()} == {"first": "x.first", "comparative": "x.comparative"}
        assert [(each.seed, each.annotations_per_segment) for each in found.values()] == [(0, 3), (5, 1)]
        assert found["comparative"].pay == Pay.model_validate({"per_package": "1.50", "currency": "EUR"})

    def test_are_called_as_the_protocol_in_the_file_that_they_name(self, file: Path):
        (file.parent / "own.json").write_text(json.dumps(document([single("sense", "yes", "no")])))
        (file.parent / "read.md").write_text("Read this.")
        file.write_text(f"{SHORT}  - {{protocol: own.json, instructions: read.md}}\n")
        (task,) = read_study(file).tasks
        assert (task.name, task.campaign.request.name) == ("example", "x.example")
        assert task.campaign.files.protocol is not None
        assert task.campaign.files.instructions == "Read this."


class TestFaults:
    def test_all_tasks_are_reported_together_with_their_places(self, file: Path):
        faults = _faults(
            file,
            "name: x\ncolections: [a]\ntasks:\n  - {protocl: comparative}\n  - {protocol: comparative, seed: -1}\n"
            "  - {protocol: comparative, pay: {per_package: 1}}\n",
        )
        assert faults[0] == "line 2: colections: there is no such key: did you mean 'collections'?"
        assert faults[1] == "line 4: tasks[0].protocl: there is no such key: did you mean 'protocol'?"
        assert faults[2] == "line 5: tasks[1].seed: must be at least 0, not -1."
        assert faults[3] == "line 6: tasks[2].pay.currency: the key is missing. ISO 4217, such as EUR."
        assert len(faults) == 4

    def test_in_the_files_of_several_tasks_are_reported_together(self, file: Path):
        faults = _faults(
            file,
            f"{SHORT}  - {{protocol: own.json, consent: none.md}}\n  - {{name: b, trainings: [t.json]}}\n",
        )
        assert [fault.split(" can't")[0] for fault in faults] == [
            "line 4: tasks[0].protocol: the file own.json",
            "line 4: tasks[0].consent: the file none.md",
            "line 5: tasks[1].trainings: the file t.json",
        ]

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            (
                f"{SHORT}  - {{protocol: a}}\n  - {{protocol: a}}\n",
                "line 5: tasks[1].name: two tasks are called 'a': name one of them.",
            ),
            (
                f"{SHORT}  - {{protocol: none.json}}\n  - {{protocol: none.json}}\n",
                "line 5: tasks[1].name: two tasks are called 'none.json': name one of them.",
            ),
            (
                f"{SHORT}  - {{name: {LONG}}}\n",
                f"line 4: tasks[0].name: the task's campaign would be called 'x.{LONG}', but a name must have at most",
            ),
            (
                f'{SHORT}  - {{name: "a\\u202e"}}\n',
                "line 4: tasks[0].name: the task's campaign would be called 'x.a\ufffd', but a name must not hold",
            ),
            (
                f"{SHORT}  - {{collections: [b]}}\n",
                "line 4: tasks[0].collections: all tasks of a study show its collections: name them beside the tasks.",
            ),
            (f"{SHORT}  []\n", "line 3: tasks: a study needs a task, or `chats` whose people rated their partners."),
            ("name: x\ncollections: [a, a]\ntasks: [{}]\n", "line 2: collections[1]: 'a' is named twice"),
            ("name: x\ncollections: [a]\nchats: [a, a]\ntasks: [{}]\n", "line 3: chats[1]: 'a' is named twice"),
            (
                f"{SHORT}  - {{units_twice: 4, annotations_per_segment: 2}}\n",
                "line 4: tasks[0].annotations_per_segment",
            ),
            (
                f"{SHORT}  - {{panel: {{kind: prolific}}}}\n",
                "line 4: tasks[0].panel.completion_code: the key is missing",
            ),
            (f"{SHORT}  - abc\n", "line 4: tasks[0]: must be an object, not"),
            (
                "[]\n",
                "line 1: the file must hold keys and values, such as 'name: abc-small': see \"Run a study of several",
            ),
        ],
    )
    def test_are_reported_with_line_and_key(self, file: Path, text: str, fault: str):
        assert any(found.startswith(fault) for found in _faults(file, text))


class TestCommand:
    def test_ends_with_2_before_anything_starts_where_the_file_is_wrong(self, file: Path):
        file.write_text(f"{SHORT}  - {{seed: x}}\n")
        done = run_stb("study", file, "--data-dir", file.parent / "data")
        assert (done.returncode, (file.parent / "data").exists()) == (2, False)
        assert "tasks[0].seed: must be a whole number" in done.stderr

    def test_prints_the_schema(self):
        assert run_stb("study", "--schema").stdout == schema_text(StudyDeclaration) + "\n"

    def test_ends_with_2_without_a_file(self):
        assert run_stb("study").returncode == 2


class TestSchema:
    def test_the_committed_one_is_current(self):
        committed = (ROOT / "docs" / "study.schema.json").read_text()
        assert committed == schema_text(StudyDeclaration) + "\n", "renew it: ./stb docs"

    def test_says_of_every_key_what_it_is(self):
        schema = json.loads(schema_text(StudyDeclaration))
        described = (schema["properties"], schema["$defs"]["Task"]["properties"])
        assert [key for keys in described for key, value in keys.items() if not value.get("description")] == []

    def test_takes_its_examples_and_those_of_the_docs(self, file: Path):
        schema = json.loads(schema_text(StudyDeclaration))
        validator = jsonschema_rs.validator_for(schema)
        assert all(validator.is_valid(example) for example in schema["examples"])
        fenced = (ROOT / "docs" / "abc-eval.md").read_text().split("```yaml\n")[1:]
        studies = [text for each in fenced if "tasks:" in (text := each.split("```")[0])]
        for example in (EXAMPLE, *studies):
            assert validator.is_valid(yaml.safe_load(example)), list(validator.iter_errors(yaml.safe_load(example)))
            file.write_text(example)
            assert read_study(file).tasks
        assert studies

    def test_has_a_task_that_takes_what_a_campaign_takes(self):
        """A task has one annotator for each unit by default, and the study's seed."""
        ours, theirs = (model.model_json_schema()["properties"] for model in (Task, CampaignTerms))
        assert set(ours) - set(theirs) == {"name"}
        assert ours["annotations_per_segment"] == theirs["annotations_per_segment"] | {"default": 1}
        described = {"description", "default"}
        limits = {key: value for key, value in theirs["seed"].items() if key not in described}
        assert {key: value for key, value in ours["seed"].items() if key not in described} == limits
        assert "default" not in ours["seed"]
        same = set(theirs) - {"annotations_per_segment", "seed"}
        assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}
