"""Writes rows as one Parquet file, nested and typed. Each batch is a row group, so that a file takes little memory."""

import io
import types
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import IO, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq
from pydantic import AwareDatetime, BaseModel

from spotthebot.kit.exports.pipe import Pipe

_PLAIN: dict[Any, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    UUID: pa.string(),
    datetime: pa.timestamp("us", tz="UTC"),
    AwareDatetime: pa.timestamp("us", tz="UTC"),
}


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


@cache
def arrow_schema(model: type[BaseModel]) -> pa.Schema:
    """Return the columns of a schema, one for each field. Models become structs, tuples become lists, ids become text.

    Raises TypeError for a field whose JSON has no fixed type.
    """
    return pa.schema(_fields(model))


def _fields(model: type[BaseModel]) -> list[pa.Field]:
    hints = get_type_hints(model, include_extras=True)
    return [pa.field(name, _arrow_type(hints[name])) for name in model.model_fields]


def _arrow_type(hint: Any) -> pa.DataType:  # noqa: ANN401 - a type hint
    if hint in _PLAIN:
        return _PLAIN[hint]
    if _is_text(hint):
        return pa.string()
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return pa.struct(_fields(hint))
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _arrow_type(arguments[0])
    inner = {each for each in arguments if each not in {..., types.NoneType}}
    if origin not in {tuple, Union, types.UnionType} or len(inner) != 1:
        message = f"{hint} has no Arrow type"
        raise TypeError(message)
    return pa.list_(_arrow_type(inner.pop())) if origin is tuple else _arrow_type(inner.pop())


def _is_text(hint: Any) -> bool:  # noqa: ANN401 - a type hint
    if get_origin(hint) is Literal:
        return all(isinstance(each, str) for each in get_args(hint))
    return isinstance(hint, type) and issubclass(hint, StrEnum)
