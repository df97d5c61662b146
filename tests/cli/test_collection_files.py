import json
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from spotthebot.cli.collections.declaration import Declaration, OpeningFrom
from spotthebot.cli.collections.declaration_file import ChatsDeclaration, CollectionFile, read_declaration
from spotthebot.cli.declarations.declared import schema_text
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.conversations.collections import BipartiteIn
from spotthebot.contracts.conversations.partner_sets import PartnerSetRef

ROOT = Path(__file__).parents[2]
EXAMPLE = """\
name: everyday-1
domain: everyday
mode: all_play_all            # self_play | all_play_all | bipartite
bots: [retrieval, ngram, dull]   # names or ids; in bipartite: the targets
partners: []                  # bipartite: names, ids, or {set: NAME, version: N}
exchanges: 5
conversations_per_pair: 4
order: both                   # both | first | target_first
opening: {corpus: sample, split: openings, take: first_exchange, shown: true}
seed: 7
"""
SHORT = """\
name: x
domain: everyday
mode: all_play_all
bots: [a, b]
exchanges: 1
conversations_per_pair: 1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "collection.yaml"


def _faults(file: Path, text: str | bytes) -> list[str]:
    """Return the faults that are reported of a file, without the file's name."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DeclarationFaulty) as raised:
        read_declaration(file)
    lines = str(raised.value).splitlines()
    assert all(line.startswith(str(file)) for line in lines)
    return [line.removeprefix(str(file)).removeprefix(", ").removeprefix(": ") for line in lines]


class TestExample:
    def test_is_read_as_it_stands(self, file: Path):
        file.write_text(EXAMPLE)
        request = read_declaration(file).request
        assert request.bots == ("retrieval", "ngram", "dull")
        assert request.partners == ()
        assert request.opening == OpeningFrom(corpus="sample", split="openings", take="first_exchange", shown=True)

    def test_keeps_to_the_schema_as_those_of_the_docs_do(self, file: Path):
        validator = jsonschema_rs.validator_for(json.loads(schema_text(Declaration)))
        fenced = (ROOT / "docs" / "collecting.md").read_text().split("```yaml\n")[1:]
        examples = [EXAMPLE, *(each.split("```")[0] for each in fenced)]
        assert len(examples) > 2
        for example in examples:
            file.write_text(example)
            read_declaration(file)
            assert validator.is_valid(yaml.safe_load(example)), list(validator.iter_errors(yaml.safe_load(example)))

    def test_partners_may_be_a_set(self, file: Path):
        file.write_text(SHORT.replace("all_play_all", "bipartite") + "partners: {set: everyday, version: 2}\n")
        partners = read_declaration(file).request.partners
        assert isinstance(partners, PartnerSetRef)
        assert (partners.set, partners.version) == ("everyday", 2)

    def test_names_that_yaml_once_took_for_truth_stay_names(self, file: Path):
        file.write_text(SHORT.replace("[a, b]", "[no, on, 2026-01-01, 1:30]"))
        assert read_declaration(file).request.bots == ("no", "on", "2026-01-01", "1:30")


class TestFaults:
    def test_are_all_reported_with_line_and_key(self, file: Path):
        faults = _faults(
            file,
            "name: 17\n"
            "domian: everyday\n"
            "mode: all\n"
            "bots: [a, 12, {b: 1}]\n"
            "partners: {set: x, verson: 2}\n"
            "exchanges: true\n"
            'conversations_per_pair: "4"\n'
            "opening:\n"
            "  take: second\n"
            "  corpus: sample\n"
            "stop: {repeated: 1}\n"
            "seed: -1\n",
        )
        assert faults[0] == "line 1: name: must be a text, not 17: put it in quotes."
        assert faults[1].startswith("line 1: domain: the key is missing.")
        assert faults[2] == "line 2: domian: there is no such key: did you mean 'domain'?"
        assert faults[3] == "line 3: mode: must be 'self_play', 'all_play_all' or 'bipartite', not \"all\"."
        assert faults[4] == "line 4: bots[1]: must be a text, not 12: put it in quotes."
        assert faults[5] == 'line 4: bots[2]: must be a text, not {"b": 1}.'
        assert faults[6] == "line 5: partners.version: the key is missing. Its version."
        assert faults[7] == "line 5: partners.verson: there is no such key: did you mean 'version'?"
        assert faults[8] == "line 6: exchanges: must be a whole number, not true."
        assert faults[9] == 'line 7: conversations_per_pair: must be a whole number, not "4".'
        assert faults[10].startswith("line 9: opening.take: must be 'first_utterance', ")
        assert faults[11] == "line 11: stop.repeated: must be at least 2, not 1."
        assert faults[12] == "line 12: seed: must be at least 0, not -1."
        assert len(faults) == 13

    def test_name_the_line_of_a_value_that_stands_below_its_key(self, file: Path):
        faults = _faults(
            file,
            "# a comment\n"
            "name: |\n"
            f"  {'long ' * 50}\n"
            "domain:\n"
            "\n"
            "  No\n"
            "mode: all_play_all\n"
            "bots:\n"
            "  - a\n"
            '  - "b\u2028\n'
            '    c"\n'
            "  - 12\n"
            "exchanges: 1\n"
            "conversations_per_pair: 1\n"
            "opening:\n"
            "  # nothing but this\n"
            "  take: 0\n"
            "stops:\n"
            "\n"
            "  soon\n"
            "humans: {\n"
            "  # nothing but this\n"
            "  conversations: 0\n"
            "}\n",
        )
        assert [fault.split(": ")[:2] for fault in faults] == [
            ["line 2", "name"],
            ["line 6", "domain"],
            ["line 12", "bots[2]"],
            ["line 17", "opening.take"],
            ["line 18", "stops"],
            ["line 21", "humans.corpus"],
            ["line 23", "humans.conversations"],
        ]

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            (("all_play_all", "bipartite"), "line 1: partners: bipartite needs partners"),
            (("[a, b]", "[a]"), "line 4: bots: all_play_all needs two bots"),
            (("[a, b]", "[a, b, a]"), "line 4: bots[2]: 'a' is named twice"),
            (("exchanges", "partners: [c]\nexchanges"), "line 5: partners: in all_play_all there are no partners"),
            (("exchanges", "order: target_first\nexchanges"), "line 5: order: target_first is for bipartite"),
            (
                ("exchanges: 1", "exchanges: 1\nopening: {corpus: c, take: 3}"),
                "line 6: opening.take: the opening of 3 ",
            ),
            (
                ("exchanges: 1", "exchanges: 1\nopening: {take: 2}"),
                "line 6: opening: conversations open with a corpus or",
            ),
            (
                ("exchanges: 1", "exchanges: 1\nopening: {first_words: Hi!, personas: true}"),
                "line 6: opening.personas: first_words have no personas",
            ),
            (("all_play_all", "bipartite\npartners: [c, a]"), "line 4: partners[1]: 'a' is a target and a partner"),
        ],
    )
    def test_between_keys_are_reported_with_their_line(self, file: Path, change: tuple[str, str], fault: str):
        (reported,) = _faults(file, SHORT.replace(*change))
        assert reported.startswith(fault)

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("", "the file is empty"),
            ("- a\n", "line 1: the file must hold keys and values"),
            (
                "a: 1\nbots: [a,\n  b\nname: x",
                "line 2: not YAML: while parsing a flow sequence, expected ',' or ']', but got ':' on line 4.",
            ),
            (
                "a: 1\nname x\nb: 2",
                "line 2: not YAML: while scanning a simple key, could not find expected ':' on line 3",
            ),
            (
                'a: 1\nname: "x\nb: 2',
                "line 2: not YAML: while scanning a quoted scalar, found unexpected end of stream",
            ),
            (
                "opening:\n    take: 1\n  corpus: c",
                "line 3: not YAML: while parsing a block mapping, expected <block",
            ),
            ('name: "a\u2028b\x85c"\r\ndomain: d: e\r\n', "line 2: not YAML: mapping values are not allowed here: is"),
            ("name: a\n\tdomain: b", "line 2: not YAML:"),
            ("name: a: b", "line 1: not YAML: mapping values are not allowed here: is"),
            ("name: a\ndomain: b\nname: c", "line 3: name: the key stands on line 1 already"),
            ("opening:\n  take: 1\n  take: 2", "line 3: opening.take: the key stands on line 2 already"),
            ("name: a\n---\nname: b", "line 2: not YAML: expected a single document"),
            ("a: &x [1]\nb:\n  - c\n  - *x", "line 4: b[1]: aliases (*) are not read"),
            ("a: &x [\n*x]", "line 2: a[0]: aliases (*) are not read"),
            ('a: 1\nb: ["x", "c\\ud83d"]', "line 2: b[1]: an escape (\\u...) is half a surrogate pair"),
            ('a: 1\n"b\\ude00": 2', "line 2: an escape (\\u...) is half a surrogate pair"),
            ("a: 1\nb: *x", "line 2: b: aliases (*) are not read"),
            ("a: !!python/object/apply:os.system [x]", "line 1: a: the tag "),
            ("a: !!set {b, c}", "line 1: a: the tag "),
            ("a: !!binary aGk=", "line 1: a: the tag "),
            ("? [1]\n: 2", "line 1: a key has to be text"),
            ("a: 1\nname: a\x00b", "line 2: not YAML: the character U+0000 can't stand there"),
            (b"name: a\nbots: [\xe9]", "line 2: this is not UTF-8"),
            ("[" * 5000, "the values are nested too deeply"),
            ("#" * (1024 * 1024 + 1), "the file holds more than 1048576 bytes"),
        ],
    )
    def test_in_the_file_itself_are_reported(self, file: Path, text: str | bytes, fault: str):
        (reported,) = _faults(file, text)
        assert reported.startswith(fault)


class TestSchema:
    def test_the_committed_one_is_current(self):
        committed = (ROOT / "docs" / "collection.schema.json").read_text()
        assert committed == schema_text(CollectionFile) + "\n", "renew it: ./stb docs"

    def test_says_of_every_key_what_it_is(self):
        models = json.loads(schema_text(CollectionFile))["$defs"]
        silent = [
            f"{model}.{key}"
            for model, described in models.items()
            for key, value in described.get("properties", {}).items()
            if not value.get("description")
        ]
        assert silent == []

    def test_has_examples_that_keep_to_it(self):
        schema = json.loads(schema_text(CollectionFile))
        validator = jsonschema_rs.validator_for(schema)
        examples = [each for model in schema["$defs"].values() for each in model.get("examples", ())]
        assert len(examples) == 3
        assert all(validator.is_valid(example) for example in examples)

    def test_declares_every_key_of_a_planned_collection(self):
        """Limits and defaults are those of the base classes that it shares with the API."""
        assert set(Declaration.model_fields) == set(BipartiteIn.model_fields)
        assert set(ChatsDeclaration.model_fields) == set(HumanBotIn.model_fields)
