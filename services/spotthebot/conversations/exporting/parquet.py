"""Conversations as one Parquet file: nested and typed, a row group for each batch, so memory stays flat."""

import io
from collections.abc import Sequence
from typing import IO

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq

from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.conversations.exporting.pipe import Pipe
from spotthebot.conversations.exporting.schema import arrow_schema


class ConversationWriter:
    """Writes batches of conversations to a file that another owns."""

    def __init__(self, file: IO[bytes] | io.RawIOBase) -> None:
        self._schema = arrow_schema(ExportedConversation)
        # Statistics are kept until the end, and hold texts: they would let memory grow with the file.
        self._writer = pq.ParquetWriter(file, self._schema, compression="zstd", write_statistics=False)

    def add(self, conversations: Sequence[ExportedConversation]) -> None:
        """Write a row group."""
        lines = b"".join(each.model_dump_json().encode() + b"\n" for each in conversations)
        table = pa.json.read_json(
            io.BytesIO(lines),
            # One block: a line may be as long as it is. Parsed in this thread, which is not the event loop's.
            read_options=pa.json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
            parse_options=pa.json.ParseOptions(explicit_schema=self._schema, unexpected_field_behavior="error"),
        )
        self._writer.write_table(table, row_group_size=len(conversations))

    def close(self) -> None:
        """Write the footer, without which nobody can read the file."""
        self._writer.close()


class ParquetFile:
    """A file in parts: each call returns the bytes that come next."""

    def __init__(self) -> None:
        self._pipe = Pipe()
        self._writer = ConversationWriter(self._pipe)

    def add(self, conversations: Sequence[ExportedConversation]) -> bytes:
        self._writer.add(conversations)
        return self._pipe.take()

    def close(self) -> bytes:
        self._writer.close()
        return self._pipe.take()
