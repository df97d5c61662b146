"""The kinds of a table's annotators: stated in a column, or else known by the names of earlier releases."""

from dataclasses import dataclass, field
from typing import Final

from spotthebot.contracts.annotation.annotations import AnnotatorKind, kind_by_name
from spotthebot.readers.files.cells import shown
from spotthebot.readers.rejected import FieldFault

KIND: Final = "annotator_kind"
"""The field, and the name of its column."""


@dataclass
class Kinds:
    """The kind of each annotator by name, as the first row of the annotator has it."""

    known: dict[str, AnnotatorKind] = field(default_factory=dict)

    @property
    def programs(self) -> dict[str, AnnotatorKind]:
        """Return the annotators that are programs."""
        return {name: kind for name, kind in self.known.items() if kind is not AnnotatorKind.PERSON}

    def read(self, annotator: str, stated: str) -> AnnotatorKind:
        """Return the kind of an annotator; `stated` is the cell of its column, or empty.

        Raises FieldFault for an unknown kind, and for another kind than in an earlier row.
        """
        if stated and stated not in set(AnnotatorKind):
            raise FieldFault(reason=f"its {KIND} '{shown(stated)}' is not {', '.join(AnnotatorKind)}")
        kind = AnnotatorKind(stated) if stated else kind_by_name(annotator)
        if self.known.setdefault(annotator, kind) is not kind:
            earlier = self.known[annotator]
            raise FieldFault(reason=f"annotator '{shown(annotator)}' is '{kind}' here, but '{earlier}' in earlier rows")
        return kind
