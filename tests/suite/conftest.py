import pytest

from tests.factories.dump_files import (
    ANNOTATIONS,
    CONVERSATIONS,
    PACKAGES,
    TALK_OF_HUMANS,
    annotation,
    conversation,
    lines,
    package,
)


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
