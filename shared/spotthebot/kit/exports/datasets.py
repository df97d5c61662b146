"""The folder that Hugging Face's `datasets` loads, as a zip that is written while it is sent."""

import zipfile
from collections.abc import Sequence

from pydantic import BaseModel

from spotthebot.kit.exports.parquet import RowWriter
from spotthebot.kit.exports.pipe import Pipe

ROWS_PER_FILE = 50_000


class DatasetFolder:
    """A zip with the card `README.md` and the files `data/train-00000-of-000NN.parquet`, `data/train-00001-of-...`.

    The number of rows must be known at the start, since the names of the files depend on it.
    """

    def __init__(self, schema: type[BaseModel], card: str, rows: int, *, rows_per_file: int = ROWS_PER_FILE) -> None:
        self._schema = schema
        self._pipe = Pipe()
        self._zip = zipfile.ZipFile(self._pipe, "w", zipfile.ZIP_STORED)  # Parquet is compressed already
        self._zip.writestr("README.md", card)
        self._files = max(1, -(-rows // rows_per_file))
        self._rows_per_file = rows_per_file
        self._opened = 0
        self._open_next()

    def add(self, rows: Sequence[BaseModel]) -> bytes:
        """Write a batch of rows. Start the next file when the current file is full."""
        while rows:
            if self._room == 0:
                self._close_file()
                self._open_next()
            self._writer.add(rows[: self._room])
            rows, written = rows[self._room :], min(self._room, len(rows))
            self._room -= written
        return self._pipe.take()

    def close(self) -> bytes:
        """Write the rest and the directory of the zip. A file for which no rows came is written without rows."""
        self._close_file()
        while self._opened < self._files:
            self._open_next()
            self._close_file()
        self._zip.close()
        return self._pipe.take()

    def _open_next(self) -> None:
        name = f"data/train-{self._opened:05}-of-{self._files:05}.parquet"
        self._file = self._zip.open(name, "w", force_zip64=True)
        self._writer = RowWriter(self._schema, self._file)
        self._opened += 1
        self._room = self._rows_per_file

    def _close_file(self) -> None:
        self._writer.close()
        self._file.close()
