"""Writes rows as one Parquet file, nested and typed. Each batch is a row group, so that a file takes little memory."""

import io
from collections.abc import Sequence
from typing import IO

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq
from pydantic import BaseModel

from spotthebot.kit.exports.arrow import arrow_schema
from spotthebot.kit.exports.pipe import Pipe


class RowWriter:
    """Writes batches of rows to an open file. The caller closes the file."""

    def __init__(self, schema: type[BaseModel], file: IO[bytes] | io.RawIOBase) -> None:
        self._schema = arrow_schema(schema)
        # Statistics hold texts until the end of the file, so memory would grow with the file.
        self._writer = pq.ParquetWriter(file, self._schema, compression="zstd", write_statistics=False)

    def add(self, rows: Sequence[BaseModel]) -> None:
        """Write a batch of rows as one row group."""
        lines = b"".join(row.model_dump_json().encode() + b"\n" for row in rows)
        table = pa.json.read_json(
            io.BytesIO(lines),
            # One block, since lines have no length limit. Parsed in this thread, which is not the event loop's.
            read_options=pa.json.ReadOptions(use_threads=False, block_size=len(lines)),
            parse_options=pa.json.ParseOptions(explicit_schema=self._schema, unexpected_field_behavior="error"),
        )
        self._writer.write_table(table, row_group_size=len(rows))

    def close(self) -> None:
        """Write the footer. Without a footer the file can't be read."""
        self._writer.close()


class ParquetFile:
    """A Parquet file that is written in parts."""

    def __init__(self, schema: type[BaseModel]) -> None:
        self._pipe = Pipe()
        self._writer = RowWriter(schema, self._pipe)

    def add(self, rows: Sequence[BaseModel]) -> bytes:
        self._writer.add(rows)
        return self._pipe.take()

    def close(self) -> bytes:
        self._writer.close()
        return self._pipe.take()
