"""The file formats of an export, and the exporter for each format."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel

from spotthebot.kit.exports.lines import CsvFile, NdjsonFile


class ExportFormat(StrEnum):
    """The file format of an export. A file contains its rows one after the other."""

    NDJSON = "ndjson"
    """One JSON object a line."""
    CSV = "csv"
    """One row a line; lists and objects are JSON in their cell."""
    PARQUET = "parquet"
    """Typed, nested columns."""
    DATASETS = "datasets"
    """A zip whose folder `datasets.load_dataset` reads: a card and Parquet files."""

    @property
    def media_type(self) -> str:
        return _FILES[self][0]

    @property
    def suffix(self) -> str:
        return _FILES[self][1]


_FILES = {
    ExportFormat.NDJSON: ("application/x-ndjson", "jsonl"),
    ExportFormat.CSV: ("text/csv", "csv"),
    ExportFormat.PARQUET: ("application/vnd.apache.parquet", "parquet"),
    ExportFormat.DATASETS: ("application/zip", "zip"),
}


class Exporter(Protocol):
    """Writes a file in parts. Each call returns the next bytes of the file."""

    def add(self, rows: Sequence[BaseModel]) -> bytes:
        """Write a batch of rows, all of the exporter's schema."""

    def close(self) -> bytes:
        """Write the end of the file. Without it, readers reject the file as incomplete."""


def open_exporter(form: ExportFormat, schema: type[BaseModel], *, rows: int, card: str) -> Exporter:
    """Return the exporter of a format.

    `rows` is the number of rows to come, and `card` the text of the card of `datasets`. Call it in a thread: it imports
    the libraries of the format, which takes a moment for Parquet.
    """
    if form is ExportFormat.NDJSON:
        return NdjsonFile()
    if form is ExportFormat.CSV:
        return CsvFile(schema)
    if form is ExportFormat.PARQUET:
        from spotthebot.kit.exports.parquet import ParquetFile  # noqa: PLC0415 - pyarrow takes 0.3 s

        return ParquetFile(schema)
    from spotthebot.kit.exports.datasets import DatasetFolder  # noqa: PLC0415 - the same

    return DatasetFolder(schema, card, rows)
