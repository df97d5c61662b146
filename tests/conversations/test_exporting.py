import io
import json
import os
import subprocess
import sys
import tracemalloc
import zipfile
from datetime import date
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import BaseModel

from spotthebot.contracts.conversations import ParticipantKind
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.conversations.exporting import (
    DatasetFolder,
    ParquetFile,
    Provenance,
    SourceCorpus,
    arrow_schema,
    write_card,
)
from tests.factories.exported import exported

LOAD = """
import json, sys, datasets
loaded = datasets.load_dataset(sys.argv[1], cache_dir=sys.argv[2])
for row in loaded["train"]:
    print(json.dumps(row, default=lambda value: value.isoformat()))
"""


def _card(conversations: int) -> str:
    told = Provenance(
        name='Everyday: "1" | {x}\nnext',
        domain="everyday",
        mode="all_play_all",
        collection_id=str(UUID(int=7)),
        begun=date(2026, 11, 21),
        conversations=conversations,
        asked_for={"exchanges": 2, "seed": 7},
        speakers=exported(0).participants,
        corpora=[SourceCorpus("sample", "Written for\nthis.", "Apache-2.0")],
        software="spotthebot 0",
    )
    return write_card(told)


def _plain(conversation: ExportedConversation) -> dict:
    """Return a row as Parquet's readers give it: ids as text, times as times."""
    row = conversation.model_dump(mode="json")
    for turn, shown in zip(row["turns"], conversation.turns, strict=True):
        turn["said_at"] = shown.said_at
    return row


class TestParquetFile:
    def test_gives_back_every_value_of_every_row(self):
        rows = [exported(number) for number in range(25)]
        file = ParquetFile()
        parts = [file.add(rows[:10]), file.add(rows[10:20]), file.add(rows[20:]), file.close()]
        read = pq.ParquetFile(io.BytesIO(b"".join(parts)))
        assert read.read().to_pylist() == [_plain(row) for row in rows]
        assert [read.metadata.row_group(number).num_rows for number in range(3)] == [10, 10, 5]

    def test_has_the_types_of_the_contract_even_where_all_values_are_null(self):
        file = ParquetFile()
        content = file.add([exported(0, exchanges=0, opening=())]) + file.close()
        assert pq.read_schema(io.BytesIO(content)).remove_metadata() == arrow_schema(ExportedConversation)
        turn = arrow_schema(ExportedConversation).field("turns").type.value_type
        assert turn.field("said_at").type == pa.timestamp("us", tz="UTC")
        assert turn.field("latency_ms").type == pa.float64()

    def test_without_rows_can_be_read(self):
        assert pq.read_table(io.BytesIO(ParquetFile().close())).num_rows == 0

    def test_cut_short_can_not(self):
        file = ParquetFile()
        with pytest.raises(pa.ArrowInvalid):
            pq.read_table(io.BytesIO(file.add([exported(0)])))

    def test_holds_no_more_memory_the_more_rows_go_through(self):
        """Python's own memory after 60 batches is that after 20, footer metadata (Arrow's, a few kB) aside."""
        rows = [exported(number, exchanges=5) for number in range(100)]
        file = ParquetFile()
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

        with pytest.raises(TypeError, match="no Arrow type"):
            arrow_schema(Loose)


class TestDatasetFolder:
    def test_is_what_datasets_loads(self, tmp_path: Path):
        rows = [exported(number) for number in range(23)]
        folder = DatasetFolder(_card(23), 23, in_a_file=10)
        content = folder.add(rows[:8]) + folder.add(rows[8:]) + folder.close()
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            assert packed.testzip() is None
            assert packed.namelist() == ["README.md", *(f"data/train-{n:05}-of-00003.parquet" for n in range(3))]
            packed.extractall(tmp_path / "folder")
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
        told = subprocess.run(
            [sys.executable, "-c", LOAD, tmp_path / "folder", tmp_path / "cache"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert told.returncode == 0, told.stderr
        loaded = [json.loads(line) for line in told.stdout.splitlines()]
        assert loaded == [json.loads(json.dumps(_plain(row), default=lambda value: value.isoformat())) for row in rows]

    def test_of_nothing_has_one_file_without_rows(self):
        content = DatasetFolder(_card(0), 0).close()
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            (file,) = [name for name in packed.namelist() if name.startswith("data/")]
            assert pq.read_table(io.BytesIO(packed.read(file))).num_rows == 0

    def test_keeps_the_names_it_announced_where_fewer_came(self):
        folder = DatasetFolder(_card(3), 3, in_a_file=1)
        content = folder.add([exported(0)]) + folder.close()
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            assert [name[-14:] for name in packed.namelist()[1:]] == ["-00003.parquet"] * 3


class TestCard:
    def test_survives_any_name(self):
        yaml = pytest.importorskip("yaml")
        _, metadata, prose = _card(5).split("---\n", 2)
        read = yaml.safe_load(metadata)
        assert read["pretty_name"] == 'Everyday: "1" | {x} next'
        assert read["size_categories"] == ["n<1K"]
        assert read["configs"][0]["data_files"] == [{"split": "train", "path": "data/train-*.parquet"}]
        assert "- sample: Written for this. Licence: Apache-2.0." in prose
        assert f"| ann | {ParticipantKind.BOT} |" in prose
