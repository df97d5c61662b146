import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from spotthebot.kit.errors import Invalid
from spotthebot.suite.published_dump import (
    DumpAnnotation,
    DumpConversation,
    DumpFileMissing,
    DumpIsTooLarge,
    DumpNotReadable,
    DumpPackage,
    DumpParticipant,
    DumpSegment,
    DumpTurn,
    NotRowsOfJson,
    Rejected,
    UnknownDumpDomain,
    open_dump,
    rows,
)

CONVERSATIONS = "sampled-dialogues-full-dailydialog.json"
PACKAGES = "packed-dialogues-full-dailydialog.json"
ANNOTATIONS = "annotated-dialogues-full-dailydialog.json"
PUBLISHED = Path(__file__).parents[2].parent / "shared" / "data" / "spot-the-bot"


def oid(number):
    return f"{number:024x}"


TALK, TALK_OF_HUMANS, PACKAGE, ANNOTATION = oid(1), oid(2), oid(3), oid(4)


def conversation(_id=TALK, types=("huggingface", "suckybot"), turns=6, **changes):
    return {
        "_id": {"$oid": _id},
        "domain_name": "dailydialog",
        "system_name0": f"tmp/{types[0]}/model",
        "system_name1": f"tmp/{types[1]}/model",
        "system_type0": types[0],
        "system_type1": types[1],
        "is_human0": types[0] == "human",
        "is_human1": types[1] == "human",
        # Numbered 1, 2, 2, 3 as half of the published conversations of bots are.
        "convo": [
            {"exchange_nr": 1 + (k + 1) // 2, "id": types[k % 2], "text": f"text {k}", "episode_done": False}
            for k in range(turns)
        ],
    } | changes


def package(_id=PACKAGE, segments=((TALK, 3), (TALK_OF_HUMANS, 5)), **changes):
    return {
        "_id": {"$oid": _id},
        "package": [{"convo_id": convo_id, "start_turn": turn} for convo_id, turn in segments],
    } | changes


def entity(side, **changes):
    return {
        "entity_number": side,
        "decision_turn": 4,
        "is_human": False,
        "fluencyValue": True,
        "sensitivenessValue": True,
        "specificityValue": True,
    } | changes


def annotation(_id=ANNOTATION, first=None, second=None, **changes):
    return {
        "_id": {"$oid": _id},
        "convo_id": TALK,
        "package_id": PACKAGE,
        "user_name": "A31XT6RPLN6359",
        "random_number": {"$numberLong": "4707764643"},
        "start_time": {"$numberLong": "1589459205478"},
        "end_time": {"$numberLong": "1589459286464"},
        "elapsed_time": 80986,
        "entity0_annotation": entity(0, **(first or {})),
        "entity1_annotation": entity(1, **(second or {})),
    } | changes


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def write(tmp_path):
    """Write a dump of sound rows, some of its files replaced by other rows or by a text."""

    def write_dump(conversations=None, packages=None, annotations=None, folder=tmp_path / "dump"):
        folder.mkdir(parents=True, exist_ok=True)
        contents = {
            CONVERSATIONS: [conversation(), conversation(TALK_OF_HUMANS, ("human", "human"))]
            if conversations is None
            else conversations,
            PACKAGES: [package()] if packages is None else packages,
            ANNOTATIONS: [annotation()] if annotations is None else annotations,
        }
        for file, content in contents.items():
            text = content if isinstance(content, str | bytes) else lines(content)
            (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
        return folder

    return write_dump


def zip_of(folder, path, prefix="", **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"{prefix}{file.name}")
            archive.writestr(f"__MACOSX/{prefix}{file.name}", "shadow")
            archive.writestr(f"__MACOSX/{prefix}._{file.name}", "shadow")
    return path


def read(place, domain="dailydialog"):
    with open_dump(place, domain) as dump:
        return list(dump.conversations()), list(dump.packages()), list(dump.annotations())


def rejected_annotation(write, **changes):
    _, _, (row, kept) = read(write(annotations=[annotation(**changes), annotation(oid(9))]))
    assert isinstance(kept, DumpAnnotation)
    assert isinstance(row, Rejected)
    assert (row.file, row.line) == (ANNOTATIONS, 1)
    return row.reason


class TestConversations:
    def test_are_read_with_speakers_by_position(self, write):
        (bots, humans), _, _ = read(write())
        assert bots == DumpConversation(
            external_id=TALK,
            domain="dailydialog",
            participants=(
                DumpParticipant("bot", "GPT", "tmp/huggingface/model"),
                DumpParticipant("bot", "DR", "tmp/suckybot/model"),
            ),
            turns=tuple(DumpTurn(k % 2, f"text {k}") for k in range(6)),
        )
        assert [participant.kind for participant in humans.participants] == ["human", "human"]
        assert [participant.name for participant in humans.participants] == ["HU", "HU"]
        assert [turn.speaker for turn in humans.turns] == [0, 1, 0, 1, 0, 1]

    def test_keep_an_empty_turn(self, write):
        empty = conversation()
        empty["convo"][3]["text"] = ""
        (bots, _), _, _ = read(write([empty, conversation(TALK_OF_HUMANS)]))
        assert bots.turns[3] == DumpTurn(1, "")

    def test_name_one_system_type_differently_in_convai2(self, write, tmp_path):
        for file in write([conversation(domain_name="personachat")], "{}", "{}").iterdir():
            file.rename(tmp_path / file.name.replace("dailydialog", "convai2"))
        for name in ("convai2", "personachat"):
            with open_dump(tmp_path, name) as dump:
                (row,) = dump.conversations()
                assert (row.domain, row.participants[0].name) == ("convai2", "HF")

    def test_keep_a_system_type_that_the_paper_does_not_abbreviate(self, write):
        (row,), _, _ = read(write([conversation(types=("newcomer", "model"))]))
        assert [participant.name for participant in row.participants] == ["newcomer", "BL"]

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"domain_name": "personachat"}, "domain_name"),
            ({"is_human0": True}, "is_human0 contradicts system_type0"),
            ({"is_human0": None}, "is_human0"),
            ({"convo": []}, "convo"),
            ({"convo": [{"id": "suckybot", "text": "me first"}]}, "turn 0"),
            ({"convo": [{"id": "huggingface", "text": None}]}, "text"),
            ({"convo": [{"id": "huggingface", "text": "nul \0"}]}, "text"),
            ({"convo": [{"id": "huggingface", "text": "half \ud83d"}]}, "text"),
            ({"_id": {"$oid": "xyz"}}, "_id"),
            ({"_id": {"$oid": TALK_OF_HUMANS}}, "stands in line 1"),
            ({"system_name1": " "}, "system_name1"),
        ],
    )
    def test_are_rejected_with_the_reason(self, write, changes, reason):
        good = conversation(TALK_OF_HUMANS)
        (first, row, last), _, _ = read(write([good, conversation() | changes, conversation(oid(8))]))
        assert isinstance(first, DumpConversation)
        assert isinstance(last, DumpConversation)
        assert (row.file, row.line) == (CONVERSATIONS, 2)
        assert reason in row.reason

    def test_are_rejected_when_a_key_is_missing(self, write):
        incomplete = conversation()
        del incomplete["system_type1"]
        (_, row), _, _ = read(write([conversation(TALK_OF_HUMANS), incomplete]))
        assert row.reason == "system_type1 is missing"


class TestPackages:
    def test_show_one_turn_more_than_the_index_of_the_last(self, write):
        _, packages, _ = read(write())
        assert packages == [DumpPackage(PACKAGE, (DumpSegment(TALK, 4), DumpSegment(TALK_OF_HUMANS, 6)))]

    @pytest.mark.parametrize(
        ("segments", "reason"),
        [
            (((TALK, 3), (TALK, 5)), "more than once"),
            (((TALK, 7),), "8 turns of conversation 000000000000000000000001 are more than its 6"),
            (((TALK, 4),), "5 turns shown"),
            (((TALK, -1),), "0 turns shown"),
            (((TALK, True),), "start_turn"),
            (((oid(99), 3),), "unknown"),
            ((), "package"),
        ],
    )
    def test_are_rejected_with_the_reason(self, write, segments, reason):
        _, (row, kept), _ = read(write(packages=[package(oid(7), segments), package()]))
        assert isinstance(kept, DumpPackage)
        assert (row.file, row.line) == (PACKAGES, 1)
        assert reason in row.reason

    def test_of_a_rejected_conversation_are_rejected(self, write):
        talks = [conversation(domain_name="?"), conversation(TALK_OF_HUMANS)]
        _, (row,), annotations = read(write(talks))
        assert TALK in row.reason
        assert [type(annotation) for annotation in annotations] == [Rejected]


class TestAnnotations:
    def test_are_read_in_our_terms(self, write):
        first = {"is_human": None, "fluencyValue": False}
        second = {"is_human": True, "sensitivenessValue": False}
        _, _, annotations = read(write(annotations=[annotation(first=first, second=second)]))
        assert annotations == [
            DumpAnnotation(
                external_id=ANNOTATION,
                conversation=TALK,
                package=PACKAGE,
                worker="A31XT6RPLN6359",
                turns_shown=4,
                labels=("unsure", "human"),
                preferences={"fluency": 1, "sensibleness": 0, "specificity": None},
                started_at_ms=1589459205478,
                ended_at_ms=1589459286464,
                elapsed_ms=80986,
                completion_code="4707764643",
            )
        ]

    def test_without_a_start_keep_what_was_reported(self, write):
        changes = {"start_time": -1, "elapsed_time": {"$numberLong": "1589459286465"}, "random_number": 12}
        _, _, (row,) = read(write(annotations=[annotation(**changes)]))
        assert (row.started_at_ms, row.elapsed_ms, row.completion_code) == (None, 1589459286465, "12")

    def test_of_authors_and_of_one_segment_twice_are_kept(self, write):
        workers = ["test", "Jan", "Annotator1", "Annotator1"]
        everything = [annotation(oid(20 + k), user_name=worker) for k, worker in enumerate(workers)]
        assert [row.worker for row in read(write(annotations=everything))[2]] == workers

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"convo_id": oid(99)}, f"conversation {oid(99)} is unknown"),
            ({"package_id": oid(99)}, f"package {oid(99)} is unknown"),
            ({"convo_id": TALK_OF_HUMANS}, "does not show 4 turns"),
            ({"first": {"decision_turn": 6}}, "decision_turn differs"),
            ({"first": {"decision_turn": 8}, "second": {"decision_turn": 8}}, "more than its 6"),
            ({"first": {"decision_turn": 3}, "second": {"decision_turn": 3}}, "3 turns shown"),
            (
                {"first": {"fluencyValue": False}, "second": {"fluencyValue": False}},
                "fluencyValue is false for both",
            ),
            ({"first": {"specificityValue": None}}, "specificityValue"),
            ({"second": {"is_human": "no"}}, "is_human"),
            ({"second": {"entity_number": 0}}, "entity_number of entity1_annotation is not 1"),
            ({"entity0_annotation": None}, "entity0_annotation"),
            ({"end_time": {"$numberLong": "12.5"}}, "end_time"),
            ({"elapsed_time": True}, "elapsed_time"),
            ({"user_name": ""}, "user_name"),
        ],
    )
    def test_are_rejected_with_the_reason(self, write, changes, reason):
        assert reason in rejected_annotation(write, **changes)

    def test_that_never_say_whether_human_are_not_taken_for_unsure(self, write):
        silent = entity(0)
        del silent["is_human"]
        assert rejected_annotation(write, entity0_annotation=silent) == "is_human is missing"

    def test_are_checked_even_when_they_are_read_alone(self, write):
        with open_dump(write(annotations=[annotation(convo_id=oid(99))]), "dailydialog") as dump:
            assert [type(row) for row in dump.annotations()] == [Rejected]
            assert [type(row) for row in dump.annotations()] == [Rejected]


class TestRowsOfJson:
    def test_one_bad_line_never_stops_the_rest(self, write, monkeypatch):
        monkeypatch.setattr(rows, "LONGEST_LINE", 4_000)
        sound = lines([conversation()]).encode()
        bad = [b"{\n", b"\xff\xfe\n", b"[1]\n", b'"text"\n', b" " * 9_000 + b"\n", b'{"a":' * 1_000 + b"\n"]
        content = b"\xef\xbb\xbf" + lines([conversation(TALK_OF_HUMANS)]).encode() + b"".join(bad) + b"\n" + sound
        conversations, _, _ = read(write(content))
        assert [type(row) for row in conversations] == [DumpConversation, *[Rejected] * 6, DumpConversation]
        assert [row.line for row in conversations[1:-1]] == [2, 3, 4, 5, 6, 7]
        assert "not JSON" in conversations[1].reason
        assert "UTF-8" in conversations[2].reason
        assert "no JSON object" in conversations[3].reason
        assert "more than 4000 bytes" in conversations[5].reason

    def test_a_last_line_that_was_cut_off_is_rejected(self, write):
        whole = lines([conversation(TALK_OF_HUMANS), conversation()])
        (kept, cut), _, _ = read(write(whole[:-40]))
        assert isinstance(kept, DumpConversation)
        assert isinstance(cut, Rejected)
        assert cut.line == 2

    @pytest.mark.parametrize("indent", [None, 2])
    def test_a_whole_array_is_read_too(self, write, indent):
        talks = [conversation(), conversation(TALK_OF_HUMANS, ("human", "human"))]
        conversations, packages, annotations = read(write(json.dumps(talks, indent=indent)))
        assert (conversations, packages, annotations) == read(write())

    def test_a_broken_element_of_an_array_does_not_stop_the_rest(self, write):
        first, second = json.dumps(conversation()), json.dumps(conversation(TALK_OF_HUMANS))
        (kept, broken, also_kept), _, _ = read(write(f"[{first},\n{first[:80]},\n{second}]\n"))
        assert (kept.external_id, also_kept.external_id) == (TALK, TALK_OF_HUMANS)
        assert (broken.file, broken.line) == (CONVERSATIONS, 2)

    @pytest.mark.parametrize("ending", ["", ",\n", "]\nmore"])
    def test_an_array_that_does_not_end_well_is_noted(self, write, ending):
        conversations, _, _ = read(write(f"[{json.dumps(conversation())}{ending}"))
        assert [type(row) for row in conversations] == [DumpConversation, Rejected]

    @pytest.mark.parametrize("content", ["", "\n\n", "[]", "<html></html>\n", "_id,text\n1,hello\n", "[1, 2]"])
    def test_a_file_without_any_object_is_refused(self, write, content):
        with pytest.raises(NotRowsOfJson, match=PACKAGES):
            open_dump(write(packages=content), "dailydialog")


class TestOpenDump:
    @pytest.mark.parametrize("prefix", ["", "data/", "a/b/"])
    def test_reads_a_zip_as_it_reads_a_folder(self, write, tmp_path, prefix):
        folder = write()
        assert read(zip_of(folder, tmp_path / "dump.zip", prefix)) == read(folder)

    def test_finds_files_in_a_sub_folder(self, write, tmp_path):
        folder = write(folder=tmp_path / "download" / "data")
        assert read(folder.parent) == read(folder)

    def test_names_the_file_that_is_missing(self, write, tmp_path):
        folder = write()
        (folder / PACKAGES).unlink()
        for place in (folder, zip_of(folder, tmp_path / "dump.zip")):
            with pytest.raises(DumpFileMissing, match=PACKAGES):
                open_dump(place, "dailydialog")

    def test_refuses_two_files_of_one_name(self, write, tmp_path):
        write(folder=tmp_path / "dump" / "old")
        write(folder=tmp_path / "dump" / "new")
        with pytest.raises(DumpNotReadable, match="2 files"):
            open_dump(tmp_path / "dump", "dailydialog")

    def test_refuses_a_place_that_does_not_exist(self, tmp_path):
        with pytest.raises(DumpNotReadable, match="no such"):
            open_dump(tmp_path / "nowhere", "dailydialog")

    def test_refuses_a_truncated_zip(self, write, tmp_path):
        path = zip_of(write(), tmp_path / "dump.zip")
        path.write_bytes(path.read_bytes()[:-200])
        with pytest.raises(DumpNotReadable, match="zip"):
            open_dump(path, "dailydialog")

    def test_refuses_a_damaged_zip_before_the_first_row(self, write, tmp_path):
        path = zip_of(write(), tmp_path / "dump.zip")
        content = bytearray(path.read_bytes())
        content[100:110] = bytes(10)
        path.write_bytes(content)
        with pytest.raises(DumpNotReadable, match="damaged"):
            open_dump(path, "dailydialog")

    def test_refuses_what_unpacks_to_more_than_the_limit(self, write, tmp_path):
        folder = write(annotations=lines([annotation()]) + " " * 1_000_000)
        packed = zip_of(folder, tmp_path / "dump.zip", compresslevel=9)
        assert packed.stat().st_size < 10_000
        for place in (folder, packed):
            with pytest.raises(DumpIsTooLarge, match="1000000"):
                open_dump(place, "dailydialog", limit=1_000_000)

    def test_knows_three_domains(self, write):
        with pytest.raises(UnknownDumpDomain, match="dailydialog, empathetic, convai2") as raised:
            open_dump(write(), "reddit")
        assert isinstance(raised.value, Invalid)


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published data is not beside the repository")
class TestPublishedData:
    """The counts are those that the data's own schema notes and the paper's released code give."""

    @pytest.mark.parametrize(("domain", "counts"), [("dailydialog", (570, 54, 2136)), ("empathetic", (750, 72, 2958))])
    def test_is_read_without_a_rejected_row(self, domain, counts):
        streams = read(PUBLISHED, domain)
        assert tuple(map(len, streams)) == counts
        assert not [row for stream in streams for row in stream if isinstance(row, Rejected)]

    def test_has_45_conversations_of_each_pair_of_bots(self):
        conversations, _, _ = read(PUBLISHED, "dailydialog")
        pairs = Counter(frozenset(p.name for p in row.participants) for row in conversations)
        assert pairs.pop(frozenset({"HU"})) == 300
        assert set(pairs.values()) == {45}
        assert set().union(*pairs) == {"BR", "GPT", "S2", "DR"}

    def test_has_one_empty_turn_in_each_domain(self):
        for domain in ("dailydialog", "empathetic"):
            texts = [turn.text for row in read(PUBLISHED, domain)[0] for turn in row.turns]
            assert texts.count("") == 1

    def test_has_one_annotation_without_a_start_in_each_domain(self):
        for domain in ("dailydialog", "empathetic"):
            assert [row.started_at_ms for row in read(PUBLISHED, domain)[2]].count(None) == 1

    def test_shows_2_3_and_5_exchanges_in_dailydialog_and_1_2_and_3_in_empathetic(self):
        for domain, shown in (("dailydialog", {4, 6, 10}), ("empathetic", {2, 4, 6})):
            assert {segment.turns_shown for row in read(PUBLISHED, domain)[1] for segment in row.segments} == shown
