"""The folder that Hugging Face's `datasets` loads, as a zip that is made while it is sent."""

import zipfile
from collections.abc import Sequence

from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.conversations.exporting.parquet import ConversationWriter
from spotthebot.conversations.exporting.pipe import Pipe

CONVERSATIONS_IN_A_FILE = 50_000


class DatasetFolder:
    """`README.md`, then `data/train-00000-of-000NN.parquet` and on; each call returns the bytes that come next.

    How many conversations there will be has to be known at the start, since it stands in the names of the files.
    """

    def __init__(self, card: str, conversations: int, *, in_a_file: int = CONVERSATIONS_IN_A_FILE) -> None:
        self._pipe = Pipe()
        self._zip = zipfile.ZipFile(self._pipe, "w", zipfile.ZIP_STORED)  # Parquet is compressed already
        self._zip.writestr("README.md", card)
        self._files = max(1, -(-conversations // in_a_file))
        self._in_a_file = in_a_file
        self._opened = 0
        self._open_next()

    def add(self, conversations: Sequence[ExportedConversation]) -> bytes:
        """Write a batch; one that is more than a file still holds goes on in the next."""
        while conversations:
            if self._room == 0:
                self._close_file()
                self._open_next()
            self._writer.add(conversations[: self._room])
            conversations, taken = conversations[self._room :], min(self._room, len(conversations))
            self._room -= taken
        return self._pipe.take()

    def close(self) -> bytes:
        """Write what is left, and the zip's directory; files that turned out empty are there, without rows."""
        self._close_file()
        while self._opened < self._files:
            self._open_next()
            self._close_file()
        self._zip.close()
        return self._pipe.take()

    def _open_next(self) -> None:
        name = f"data/train-{self._opened:05}-of-{self._files:05}.parquet"
        self._file = self._zip.open(name, "w", force_zip64=True)
        self._writer = ConversationWriter(self._file)
        self._opened += 1
        self._room = self._in_a_file

    def _close_file(self) -> None:
        self._writer.close()
        self._file.close()
