import json
from collections import Counter

import pytest

from spotthebot.importers.published_dump.dump import open_dump
from spotthebot.importers.published_dump.errors import (
    DumpFileMissing,
    DumpIsTooLarge,
    DumpNotReadable,
    DumpTruncated,
    NotRowsOfJson,
    UnknownDumpDomain,
)
from spotthebot.importers.published_dump.records import DumpConversation
from spotthebot.kit.errors import Invalid
from spotthebot.readers.files import json_rows
from spotthebot.readers.rejected import Rejected
from tests.factories.dump_files import (
    CONVERSATIONS,
    PACKAGES,
    PUBLISHED,
    TALK,
    TALK_OF_HUMANS,
    annotation,
    conversation,
    lines,
    read,
    zip_of,
)


class TestRowsOfJson:
    def test_one_bad_line_never_stops_the_rest(self, write, monkeypatch):
        monkeypatch.setattr(json_rows, "LONGEST_LINE", 4_000)
        sound = lines([conversation()]).encode()
        bad = [b"{\n", b"\xff\xfe\n", b"[1]\n", b'"text"\n', b" " * 9_000 + b"\n", b'{"a":' * 1_000 + b"\n"]
        content = b"\xef\xbb\xbf" + lines([conversation(TALK_OF_HUMANS)]).encode() + b"".join(bad) + b"\n" + sound
        conversations, _, _ = read(write(content))
        assert [type(row) for row in conversations] == [DumpConversation, *[Rejected] * 6, DumpConversation]
        assert [row.line for row in conversations[1:-1]] == [2, 3, 4, 5, 6, 7]
        assert "not JSON" in conversations[1].reason
        assert "UTF-8" in conversations[2].reason
        assert "not a JSON object" in conversations[3].reason
        assert "more than 4000 bytes" in conversations[5].reason

    def test_a_file_that_was_cut_off_is_refused_before_anything_is_read(self, write):
        whole = lines([conversation(TALK_OF_HUMANS), conversation()])
        with pytest.raises(DumpTruncated, match="line 2"):
            read(write(whole[:-40]))

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

    def test_an_array_that_lacks_its_bracket_is_noted(self, write):
        conversations, _, _ = read(write(f"[{json.dumps(conversation())},\n"))
        assert [type(row) for row in conversations] == [DumpConversation, Rejected]

    @pytest.mark.parametrize("ending", ["", "]\nmore"])
    def test_an_array_that_ends_elsewhere_is_refused(self, write, ending):
        with pytest.raises(DumpTruncated):
            read(write(f"[{json.dumps(conversation())}{ending}"))

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
