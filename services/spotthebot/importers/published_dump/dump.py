"""A dump as three streams of records; each row is checked against the rows that it refers to."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from spotthebot.importers.published_dump.domains import Domain, domain_named
from spotthebot.importers.published_dump.parse import annotation_of, conversation_of, package_of
from spotthebot.importers.published_dump.records import DumpAnnotation, DumpConversation, DumpPackage, DumpSegment
from spotthebot.importers.published_dump.rows import check_rows
from spotthebot.importers.published_dump.source import open_source
from spotthebot.readers.files.json_rows import Source, read_rows
from spotthebot.readers.rejected import FieldFault, Rejected

LARGEST_DUMP: Final = 256 * 1024**2
"""The bytes of the three files of a domain, unpacked; the published files have less than 5 MiB."""

_Record = TypeVar("_Record", DumpConversation, DumpPackage, DumpAnnotation)


def open_dump(path: Path, domain: str, *, limit: int = LARGEST_DUMP) -> "Dump":
    """Open the published data of one domain: 'dailydialog', 'empathetic' or 'convai2' (or 'personachat').

    `path` is the folder with the files, or the zip. Raises an `Invalid` error before any row is read if the domain is
    unknown, if files are missing or damaged, if files have no rows of JSON, or if they have more than `limit` bytes.
    """
    known = domain_named(domain)
    files = (known.conversations_file, known.packages_file, known.annotations_file)
    source = open_source(path, files, limit)
    try:
        for file in files:
            check_rows(source, file)
    except BaseException:
        source.close()
        raise
    return Dump(source, known)


class Dump:
    """The rows of one domain. Each stream can be read repeatedly.

    It first reads the rows of other files that its rows refer to.
    """

    def __init__(self, source: Source, domain: Domain) -> None:
        self._source = source
        self._domain = domain
        self._lengths: dict[str, int] | None = None
        self._segments: dict[str, frozenset[DumpSegment]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the zip; afterwards the streams can't be read."""
        self._source.close()

    @property
    def domain(self) -> str:
        return self._domain.key

    def conversations(self) -> Iterator[DumpConversation | Rejected]:
        """Yield every conversation in the order of the file."""
        lengths: dict[str, int] = {}

        def parse(row: Mapping[str, object]) -> DumpConversation:
            conversation = conversation_of(row, self._domain)
            lengths[conversation.external_id] = len(conversation.turns)
            return conversation

        yield from self._records(self._domain.conversations_file, parse)
        self._lengths = lengths

    def packages(self) -> Iterator[DumpPackage | Rejected]:
        """Yield every package; a package with an invalid segment is rejected completely."""
        lengths = self._conversation_lengths()
        segments: dict[str, frozenset[DumpSegment]] = {}

        def parse(row: Mapping[str, object]) -> DumpPackage:
            package = package_of(row)
            for segment in package.segments:
                _check_segment(segment, lengths)
            if len({segment.conversation for segment in package.segments}) < len(package.segments):
                raise FieldFault(reason="a conversation is in the package more than once")
            segments[package.external_id] = frozenset(package.segments)
            return package

        yield from self._records(self._domain.packages_file, parse)
        self._segments = segments

    def annotations(self) -> Iterator[DumpAnnotation | Rejected]:
        """Yield every annotation, by any annotator and including repeats."""
        lengths = self._conversation_lengths()
        packages = self._package_segments()

        def parse(row: Mapping[str, object]) -> DumpAnnotation:
            annotation = annotation_of(row)
            segment = DumpSegment(annotation.conversation, annotation.turns_shown)
            _check_segment(segment, lengths)
            if annotation.package not in packages:
                raise FieldFault(reason=f"package {annotation.package} is unknown or was rejected")
            if segment not in packages[annotation.package]:
                raise FieldFault(
                    reason=f"package {annotation.package} does not show {segment.turns_shown} turns"
                    f" of conversation {segment.conversation}"
                )
            return annotation

        yield from self._records(self._domain.annotations_file, parse)

    def _records(self, file: str, parse: Callable[[Mapping[str, object]], _Record]) -> Iterator[_Record | Rejected]:
        lines: dict[str, int] = {}
        for row in read_rows(self._source, file):
            if isinstance(row, Rejected):
                yield row
                continue
            try:
                record = parse(row.content)
            except FieldFault as fault:
                yield Rejected(file, row.line, str(fault))
                continue
            first = lines.setdefault(record.external_id, row.line)
            if first == row.line:
                yield record
            else:
                yield Rejected(file, row.line, f"_id {record.external_id} is on line {first} already")

    def _conversation_lengths(self) -> dict[str, int]:
        if self._lengths is None:
            _exhaust(self.conversations())
        return self._lengths or {}

    def _package_segments(self) -> dict[str, frozenset[DumpSegment]]:
        if self._segments is None:
            _exhaust(self.packages())
        return self._segments or {}


def _exhaust(stream: Iterator[object]) -> None:
    for _ in stream:
        pass


def _check_segment(segment: DumpSegment, lengths: Mapping[str, int]) -> None:
    length = lengths.get(segment.conversation)
    if length is None:
        raise FieldFault(reason=f"conversation {segment.conversation} is unknown or was rejected")
    if segment.turns_shown > length:
        raise FieldFault(
            reason=f"{segment.turns_shown} turns of conversation {segment.conversation} are more than its {length}"
        )
