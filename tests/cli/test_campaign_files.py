"""What a campaign's file may say, and every fault of one."""

import json
from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from pydantic import BaseModel

from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.cli.campaigns.declaration_file import Declaration, read_declaration
from spotthebot.cli.commands import campaigns
from spotthebot.cli.declarations.declared import schema_text
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.contracts.annotation.campaigns import CampaignIn
from spotthebot.contracts.annotation.panels import ProlificPanel
from tests.factories.command_line import run_stb
from tests.factories.protocols import document, single

ROOT = Path(__file__).parents[2]
EXAMPLE = """\
name: everyday-people
collections: [everyday-1]          # by name; human dialogues are mixed in by the collection
protocol: spot_the_bot             # or a file
segments: [2, 3, 5]
annotations_per_segment: 2
package_size: 20
packages_per_annotator: 3
lease_minutes: 60
instructions: instructions.md
consent: consent.md
panel: {kind: prolific, completion_code: C1ODE7}
seed: 7
"""
SHORT = "name: x\ncollections: [a]\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "campaign.yaml"


def _faults(file: Path, text: str) -> list[str]:
    """Return the faults that are reported of a file, without the file's name."""
    file.write_text(text)
    with pytest.raises(DeclarationFaulty) as raised:
        read_declaration(file)
    return [line.removeprefix(f"{file}").removeprefix(", ") for line in str(raised.value).splitlines()]


class TestExample:
    def test_is_read_with_the_text_of_its_instructions(self, file: Path):
        file.write_text(EXAMPLE)
        (file.parent / "instructions.md").write_text("Who is a bot?\n")
        (file.parent / "consent.md").write_text("We keep your labels.\n")
        declared = read_declaration(file)
        assert declared.request == Declaration(
            name="everyday-people",
            collections=("everyday-1",),
            packages_per_annotator=3,
            instructions="instructions.md",
            consent="consent.md",
            panel=ProlificPanel(kind="prolific", completion_code="C1ODE7"),
            seed=7,
        )
        assert (declared.files.instructions, declared.files.consent) == ("Who is a bot?\n", "We keep your labels.\n")
        assert declared.files.protocol is None

    def test_keeps_to_the_schema_as_those_of_the_docs_do(self, file: Path):
        validator = jsonschema_rs.validator_for(json.loads(schema_text(Declaration)))
        fenced = (ROOT / "docs" / "annotation.md").read_text().split("```yaml\n")[1:]
        examples = [EXAMPLE, *(each.split("```")[0] for each in fenced)]
        assert len(examples) > 1
        (file.parent / "instructions.md").write_text("Who is a bot?")
        (file.parent / "consent.md").write_text("We keep your labels.")
        for example in examples:
            file.write_text(example)
            read_declaration(file)
            assert validator.is_valid(yaml.safe_load(example)), list(validator.iter_errors(yaml.safe_load(example)))

    def test_may_name_a_protocol_by_the_file_of_its_document(self, file: Path):
        protocol = document([single("sense", "yes", "no")])
        (file.parent / "own.json").write_text(json.dumps(protocol))
        file.write_text(SHORT + "protocol: own.json\n")
        read = read_declaration(file).files.protocol
        assert read is not None
        assert (read.name, read.version, read.steps[0].questions[0].id) == ("example", 1, "sense")


class TestFaults:
    def test_are_all_reported_with_line_and_key(self, file: Path):
        faults = _faults(
            file,
            "name: 17\ncolections: [a]\nsegments: [2, x]\nannotations_per_segment: 0\npackage_size: 201\n"
            'lease_minutes: "60"\nseed: -1\n',
        )
        assert faults[0] == "line 1: name: must be a text, not 17: put it in quotes."
        assert faults[1].startswith("line 1: collections: the key is missing. Whose conversations are shown")
        assert faults[2] == "line 2: colections: there is no such key: did you mean 'collections'?"
        assert faults[3] == 'line 3: segments[1]: must be a whole number, not "x".'
        assert faults[4] == "line 4: annotations_per_segment: must be at least 1, not 0."
        assert faults[5] == "line 5: package_size: must be at most 200, not 201."
        assert faults[6] == 'line 6: lease_minutes: must be a whole number, not "60".'
        assert faults[7] == "line 7: seed: must be at least 0, not -1."
        assert len(faults) == 8

    @pytest.mark.parametrize(
        ("more", "fault"),
        [
            (
                "gold: {training: g}",
                "line 3: gold: gold needs packages_per_annotator: nobody may see",
            ),
            (
                "units_twice: 2\nannotations_per_segment: 2",
                "line 4: annotations_per_segment: must be 1 or left out next to units_twice: only the drawn",
            ),
            ("stop_when: soon", "line 3: stop_when: must be 'every_pair_decided', not"),
            ("stop_when: {width: 0}", "line 3: stop_when.width: must be greater than 0.0, not 0."),
            ("stop_when: {}", "line 3: stop_when.width: the key is missing. Upper bound minus lower bound."),
            ("margin: 1", "line 3: margin: must be less than 1.0, not 1."),
            ("training: {attempts: 2}", "line 3: training.name: the key is missing. A stored training"),
            ("trainings: [none.json]", "line 3: trainings: the file none.json can't be read: No such file"),
            ("trainings: [empty.json]", "line 3: trainings: empty.json, /format: is missing."),
            ("pay: {per_package: 1.5}", "line 3: pay.currency: the key is missing. ISO 4217, such as EUR."),
            ("segments: [3, 2, 2]", "line 3: segments: must be in increasing order, each length once: [2, 3]."),
            (
                "instructions: none.md",
                "line 3: instructions: the file none.md can't be read: No such file or directory.",
            ),
            ("consent: none.md", "line 3: consent: the file none.md can't be read: No such file or directory."),
            ("consent: long.md", "line 3: consent: long.md: must have at most 20000"),
            ("panel: prolific", "line 3: panel: must be an object, not"),
            ("panel: {completion_code: C1}", "line 3: panel: must name its 'kind'"),
            ("panel: {kind: sona}", "line 3: panel: must have one of 'prolific'"),
            ("panel: {kind: prolific}", "line 3: panel.completion_code: the key is missing. A completion code of the"),
            (
                "panel: {kind: mturk}",
                "line 3: panel: can't be mturk: Mechanical Turk closed to everybody on 2026-09-30; name another panel",
            ),
            (
                "panel: {kind: generic, parameter: pid, redirect_uri: x}",
                "line 3: panel.redirect_uri: there is no such key: did you mean 'redirect_url'?",
            ),
            (
                "panel: {kind: generic, parameter: pid, redirect_url: 'http://x.example/'}",
                "line 3: panel.redirect_url: must be an https:// URL without a user",
            ),
            (
                "panel: {kind: cloudresearch}",
                "line 3: panel: give either redirect_url or completion_code",
            ),
            ("instructions: .", "line 3: instructions: the file . can't be read: Is a directory."),
            ("instructions: latin.md", "line 3: instructions: the file latin.md is not UTF-8: save it with that"),
            ("instructions: long.md", "line 3: instructions: long.md: must have at most 20000"),
            ("instructions: huge.md", "line 3: instructions: the file huge.md holds more than 1048576 bytes."),
            ("protocol: none.json", "line 3: protocol: the file none.json can't be read: No such file or directory."),
            ("protocol: long.md", "line 3: protocol: long.md: not JSON: Expecting value"),
            ("protocol: empty.json", "line 3: protocol: empty.json, /format: is missing."),
            (
                "protocol_version: 2\nprotocol: empty.json",
                "line 3: protocol_version: the file empty.json states its version: leave this key out.",
            ),
            ("protocol_version: 0", "line 3: protocol_version: must be at least 1, not 0."),
        ],
    )
    def test_in_one_key_or_the_file_that_it_names_are_reported(self, file: Path, more: str, fault: str):
        for name, content in (
            ("latin.md", b"caf\xe9"),
            ("long.md", b"a" * 20_001),
            ("huge.md", b"a" * (1024 * 1024 + 1)),
            ("empty.json", b"{}"),
        ):
            (file.parent / name).write_bytes(content)
        assert _faults(file, f"{SHORT}{more}\n")[0].startswith(fault)

    def test_in_two_named_files_are_reported_together(self, file: Path):
        assert len(_faults(file, f"{SHORT}protocol: a.json\ninstructions: b.md\n")) == 2

    def test_a_collection_that_is_named_twice_is_reported(self, file: Path):
        (fault,) = _faults(file, "name: x\ncollections:\n  - a\n  - a\n")
        assert fault == "line 4: collections[1]: 'a' is named twice: name each collection once."

    @pytest.mark.parametrize(
        ("written", "reason"),
        [
            ("[]", "its entries have to be 1 at least, not 0."),
            ("a", 'it has to be a list, in brackets or with a dash before each entry, not "a".'),
            (str([f"c{number}" for number in range(101)]), "its entries may be 100 at most, not 101."),
        ],
    )
    def test_a_list_of_collections_that_is_none_is_reported(self, file: Path, written: str, reason: str):
        (fault,) = _faults(file, f"name: x\ncollections: {written}\n")
        assert fault == f"line 2: collections: {reason}"

    def test_an_empty_file_is_reported_with_the_page_of_an_example(self, file: Path):
        (fault,) = _faults(file, "")
        assert fault.endswith('the file is empty: see "Run a campaign" in the documentation for an example.')


class TestCommand:
    def test_ends_with_2_before_anything_starts_where_the_file_is_wrong(self, file: Path):
        file.write_text(f"{SHORT}gold: yes\n")
        done = run_stb("campaign", file, "--data-dir", file.parent / "data")
        assert (done.returncode, (file.parent / "data").exists()) == (2, False)

    def test_prints_the_schema(self):
        assert run_stb("campaign", "--schema").stdout == schema_text(Declaration) + "\n"

    @pytest.mark.parametrize("arguments", [["campaign"], ["annotate", "x"], ["annotate", "x", "--simulated", "0"]])
    def test_ends_with_2_where_something_is_missing(self, arguments: list[str]):
        assert run_stb(*arguments).returncode == 2


class TestSchema:
    def test_the_committed_one_is_current(self):
        committed = (ROOT / "docs" / "campaign.schema.json").read_text()
        assert committed == schema_text(Declaration) + "\n", "renew it: ./stb docs"

    def test_says_of_every_key_what_it_is_and_has_examples_that_keep_to_it(self):
        schema = json.loads(schema_text(Declaration))
        assert [key for key, value in schema["properties"].items() if not value.get("description")] == []
        validator = jsonschema_rs.validator_for(schema)
        assert all(validator.is_valid(example) for example in schema["examples"])

    def test_takes_what_the_api_takes(self):
        """The same limits and defaults, so that nothing is refused late, and nothing is out of reach.

        A file has names where the API has ids, or ids of what files hold.
        """
        named = {"collections", "protocol", "instructions", "consent"}
        shared = set(Declaration.model_fields) & set(CampaignIn.model_fields) - named
        ours, theirs = _limits(Declaration), _limits(CampaignIn)
        assert {key: ours[key] for key in shared} == {key: theirs[key] for key in shared}
        assert len(shared) == 22
        built_in = {name for name, _ in built_in_protocols()}
        assert Declaration.model_fields["protocol"].default in built_in


def _limits(model: type[BaseModel]) -> dict[str, object]:
    """Return a schema's properties without what is prose."""
    properties = model.model_json_schema()["properties"]
    return {name: {k: v for k, v in value.items() if k != "description"} for name, value in properties.items()}


def test_short_work_is_said_in_minutes():
    said = [campaigns._time_words(hours) for hours in (None, 0.12, 3.04)]
    assert said == ["hours unknown until people have annotated", "about 7 minutes", "about 3.0 hours"]
