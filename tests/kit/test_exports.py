"""Rows of any schema as files, read back by the tools that they are for."""

import csv
import io
import json
import os
import random
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import AwareDatetime, BaseModel

from spotthebot.kit.exports.batches import export
from spotthebot.kit.exports.datasets import DatasetFolder
from spotthebot.kit.exports.flat import flat_row, flat_schema
from spotthebot.kit.exports.formats import ExportFormat
from spotthebot.kit.exports.lines import CsvFile, NdjsonFile
from spotthebot.kit.exports.parquet import ParquetFile, arrow_schema

NASTY = ("", 'She said "no".', "tab\there", "line\nbreak\u2028\u2029", "\\", "ä😀\ufeff", "{}", "a,b;c", " " * 3)
CARD = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data/train-*.parquet\n---\n"
LOAD = """
import json, sys, datasets
loaded = datasets.load_dataset(sys.argv[1], cache_dir=sys.argv[2])
for row in loaded["train"]:
    print(json.dumps(row, default=lambda value: value.isoformat()))
"""
IMPORTS = (
    "import sys; import spotthebot.kit.exports.batches; print([n for n in sys.modules if n.startswith('pyarrow')])"
)


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Stamp(BaseModel):
    text: str
    weight: float | None
    stamped_at: AwareDatetime | None


class Letter(BaseModel):
    id: UUID
    number: int
    size: Size
    kind: Literal["card", "parcel"]
    opened: bool
    note: str | None
    pages: tuple[int, ...]
    stamps: tuple[Stamp, ...]


def _letter(number: int, stamps: int = 2) -> Letter:
    chance = random.Random(number)
    return Letter(
        id=UUID(int=number),
        number=number,
        size=chance.choice(tuple(Size)),
        kind="card",
        opened=number % 2 == 0,
        note=chance.choice((None, *NASTY)),
        pages=tuple(range(number % 3)),
        stamps=tuple(
            Stamp(
                text=f"stamp {position} of {number} {chance.choice(NASTY)}",
                weight=chance.choice((None, chance.random() * 1000)),
                stamped_at=datetime(2026, 1, 2, tzinfo=UTC) + timedelta(microseconds=chance.randrange(10**12)),
            )
            for position in range(stamps)
        ),
    )


def _plain(letter: Letter) -> dict[str, Any]:
    """Return a row as readers of Parquet give it: ids as text, times as times."""
    row = letter.model_dump(mode="json")
    for stamp, shown in zip(row["stamps"], letter.stamps, strict=True):
        stamp["stamped_at"] = shown.stamped_at
    return row


class Weighed(BaseModel):
    stamp: Stamp
    spare: Stamp | None
    number: int


class TestFlatRows:
    def test_have_a_column_for_each_field_of_a_nested_field(self):
        stamp = Stamp(text="a", weight=0.5, stamped_at=None)
        rows = [flat_row(Weighed(stamp=stamp, spare=spare, number=2)) for spare in (None, stamp)]
        assert [row.model_dump() for row in rows] == [
            {"stamp_text": "a", "stamp_weight": 0.5, "stamp_stamped_at": None, "number": 2}
            | {"spare_text": text, "spare_weight": weight, "spare_stamped_at": None}
            for text, weight in ((None, None), ("a", 0.5))
        ]
        schema = flat_schema(Weighed)
        assert flat_schema(Weighed) is schema  # made once: arrow's schema is kept by it
        file = ParquetFile(schema)
        table = pq.read_table(io.BytesIO(file.add(rows) + file.close()))
        assert table.column_names == [*schema.model_fields]
        assert table.to_pylist() == [row.model_dump() for row in rows]

    def test_may_be_null_where_the_nested_field_may_be(self):
        fields = flat_schema(Weighed).model_fields
        assert (fields["stamp_text"].annotation, fields["spare_text"].annotation) == (str, str | None)


class TestNdjsonFile:
    def test_holds_every_value_of_every_row_one_row_a_line(self):
        rows = [_letter(number) for number in range(25)]
        file = NdjsonFile()
        lines = (file.add(rows[:10]) + file.add(rows[10:]) + file.close()).decode().split("\n")
        assert lines.pop() == ""
        assert [Letter.model_validate_json(line) for line in lines] == rows


class TestCsvFile:
    def test_holds_every_value_of_every_row_with_json_in_cells_of_lists(self):
        rows = [_letter(number) for number in range(25)]
        file = CsvFile(Letter)
        content = file.add(rows[:10]) + file.add(rows[10:]) + file.close()
        read = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
        assert [list(cells) for cells in read] == [list(Letter.model_fields)] * 25
        for cells, row in zip(read, rows, strict=True):
            assert cells["note"] == (row.note or "")
            assert (cells["id"], cells["size"], cells["opened"]) == (str(row.id), row.size, str(row.opened).lower())
            assert json.loads(cells["pages"]) == list(row.pages)
            assert json.loads(cells["stamps"]) == row.model_dump(mode="json")["stamps"]

    def test_without_rows_holds_the_header(self):
        assert CsvFile(Letter).close().decode() == ",".join(Letter.model_fields) + "\r\n"


class TestParquetFile:
    def test_holds_every_value_of_every_row(self):
        rows = [_letter(number) for number in range(25)]
        file = ParquetFile(Letter)
        parts = [file.add(rows[:10]), file.add(rows[10:20]), file.add(rows[20:]), file.close()]
        read = pq.ParquetFile(io.BytesIO(b"".join(parts)))
        assert read.read().to_pylist() == [_plain(row) for row in rows]
        assert [read.metadata.row_group(number).num_rows for number in range(3)] == [10, 10, 5]

    def test_has_the_types_of_the_schema_even_where_all_values_are_null(self):
        file = ParquetFile(Letter)
        content = file.add([_letter(0, stamps=0)]) + file.close()
        assert pq.read_schema(io.BytesIO(content)).remove_metadata() == arrow_schema(Letter)
        stamp = arrow_schema(Letter).field("stamps").type.value_type
        assert stamp.field("stamped_at").type == pa.timestamp("us", tz="UTC")
        assert stamp.field("weight").type == pa.float64()

    def test_without_rows_can_be_read(self):
        assert pq.read_table(io.BytesIO(ParquetFile(Letter).close())).num_rows == 0

    def test_cut_short_can_not_be_read(self):
        file = ParquetFile(Letter)
        with pytest.raises(pa.ArrowInvalid):
            pq.read_table(io.BytesIO(file.add([_letter(0)])))

    def test_holds_no_more_memory_the_more_rows_go_through(self):
        """Python's own memory after 60 batches is that after 20, footer metadata (Arrow's, a few kB) aside."""
        rows = [_letter(number, stamps=10) for number in range(100)]
        file = ParquetFile(Letter)
        sent = 0
        held = []
        tracemalloc.start()
        arrow = []
        for number in range(60):
            sent += len(file.add(rows))
            if number in {19, 59}:
                held.append(tracemalloc.get_traced_memory()[0])
                arrow.append(pa.total_allocated_bytes())
        tracemalloc.stop()
        assert sent > 60 * 10_000
        assert held[1] - held[0] < 50_000
        assert arrow[1] - arrow[0] < 100_000


class TestArrowSchema:
    def test_refuses_a_field_whose_json_has_no_fixed_type(self):
        class Loose(BaseModel):
            anything: dict[str, object]

        class Mixed(BaseModel):
            either: int | str

        class Coded(BaseModel):
            code: Literal[1, 2]

        for model in (Loose, Mixed, Coded):
            with pytest.raises(TypeError, match="no Arrow type"):
                arrow_schema(model)


class TestDatasetFolder:
    def test_is_loaded_by_datasets(self, tmp_path: Path):
        rows = [_letter(number) for number in range(23)]
        folder = DatasetFolder(Letter, CARD, 23, rows_per_file=10)
        content = folder.add(rows[:8]) + folder.add(rows[8:]) + folder.close()
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            assert packed.testzip() is None
            assert packed.namelist() == ["README.md", *(f"data/train-{n:05}-of-00003.parquet" for n in range(3))]
            packed.extractall(tmp_path / "folder")
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
        printed = subprocess.run(
            [sys.executable, "-c", LOAD, tmp_path / "folder", tmp_path / "cache"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert printed.returncode == 0, printed.stderr
        loaded = [json.loads(line) for line in printed.stdout.splitlines()]
        assert loaded == [json.loads(json.dumps(_plain(row), default=lambda value: value.isoformat())) for row in rows]

    def test_fills_each_file_before_the_next(self):
        rows = [_letter(number, stamps=0) for number in range(23)]
        folder = DatasetFolder(Letter, CARD, 23, rows_per_file=10)
        content = folder.add(rows[:8]) + folder.add(rows[8:]) + folder.close()
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            files = [pq.ParquetFile(io.BytesIO(packed.read(name))) for name in packed.namelist()[1:]]
        assert [file.metadata.num_rows for file in files] == [10, 10, 3]

    @pytest.mark.parametrize(("rows", "files"), [(50_000, 1), (50_001, 2), (100_000, 2)])
    def test_has_a_file_for_each_fifty_thousand_rows(self, rows: int, files: int):
        with zipfile.ZipFile(io.BytesIO(DatasetFolder(Stamp, CARD, rows).close())) as packed:
            assert len(packed.namelist()) == 1 + files

    def test_without_rows_has_one_empty_file(self):
        content = DatasetFolder(Letter, CARD, 0).close()
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            (file,) = [name for name in packed.namelist() if name.startswith("data/")]
            assert pq.read_table(io.BytesIO(packed.read(file))).num_rows == 0

    def test_keeps_the_names_of_its_files_where_fewer_rows_came(self):
        folder = DatasetFolder(Letter, CARD, 3, rows_per_file=1)
        content = folder.add([_letter(0)]) + folder.close()
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            assert [name[-14:] for name in packed.namelist()[1:]] == ["-00003.parquet"] * 3


class TestFormats:
    def test_have_their_media_types_and_suffixes(self):
        """As IANA and the makers of NDJSON name them; a zip holds the folder of `datasets`."""
        assert {form.value: (form.media_type, form.suffix) for form in ExportFormat} == {
            "ndjson": ("application/x-ndjson", "jsonl"),
            "csv": ("text/csv", "csv"),
            "parquet": ("application/vnd.apache.parquet", "parquet"),
            "datasets": ("application/zip", "zip"),
        }


class TestExport:
    async def test_holds_the_same_rows_in_every_format(self):
        rows = [_letter(number) for number in range(7)]

        async def batches() -> AsyncIterator[Sequence[Letter]]:
            yield rows[:5]
            yield rows[5:]

        files = {
            form: b"".join([part async for part in export(batches(), form, Letter, rows=7, card=CARD)])
            for form in ExportFormat
        }
        lines = files[ExportFormat.NDJSON].decode().split("\n")[:-1]
        assert [Letter.model_validate_json(line) for line in lines] == rows
        assert len(list(csv.DictReader(io.StringIO(files[ExportFormat.CSV].decode(), newline="")))) == 7
        plain = [_plain(row) for row in rows]
        assert pq.read_table(io.BytesIO(files[ExportFormat.PARQUET])).to_pylist() == plain
        with zipfile.ZipFile(io.BytesIO(files[ExportFormat.DATASETS])) as packed:
            assert packed.read("README.md").decode() == CARD
            assert pq.read_table(io.BytesIO(packed.read("data/train-00000-of-00001.parquet"))).to_pylist() == plain

    def test_imports_pyarrow_only_where_a_format_needs_it(self):
        printed = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
        assert printed.stdout.strip() == "[]"
