"""Reads the suite's export, one conversation per line, for an import."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import ValidationError

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.conversations.corpora.domain.formats.records import Fault
from spotthebot.kit.crypto.pseudonyms import is_pseudonym
from spotthebot.kit.text.validation import faults_of

_MAX_FAULTS = 3


@dataclass(frozen=True)
class ReadExport:
    """An exported conversation; `line` counts from 1."""

    line: int
    conversation: ExportedConversation


class ExportLines:
    """Parses exported conversations for a collection of one domain. All must have the first conversation's mode.

    Conversations of a cancelled collection can be imported only into a cancelled collection: they must not become part
    of a complete collection.
    """

    def __init__(self, domain: str, held_as: str | None, *, is_cancelled: bool) -> None:
        self._domain = domain
        self._is_cancelled = is_cancelled
        self.held_as = held_as

    def line(self, number: int, text: str) -> Iterable[ReadExport]:
        """Parse one conversation."""
        try:
            found = ExportedConversation.model_validate_json(text)
        except ValidationError as error:
            raise Fault(reason=_faults_of(error)) from None
        if (fault := next(filter(None, (side.fault_of_name() for side in found.participants)), None)) is not None:
            raise Fault(reason=fault)
        rating = found.rating
        if rating and rating.interactor_kind is not AnnotatorKind.PERSON and is_pseudonym(rating.interactor):
            raise Fault(reason="rating.interactor: a program must not have the form of a pseudonym (p-...)")
        if found.domain != self._domain:
            raise Fault(reason=f"is of domain '{found.domain}', the collection is of '{self._domain}'")
        if found.collection_cancelled is not self._is_cancelled:
            was, own = ("was", "was not") if found.collection_cancelled else ("was not", "was")
            raise Fault(reason=f"its collection {was} cancelled, this one {own}: use one with the same `cancelled`")
        if found.state is ConversationState.RUNNING:
            raise Fault(reason="has not ended: export it again when it has")
        if self.held_as is None:
            self.held_as = found.mode
        if found.mode != self.held_as:
            raise Fault(reason=f"was held as {found.mode}, the collection holds {self.held_as}: use another collection")
        yield ReadExport(number, found)

    def end(self) -> Iterable[ReadExport]:
        return ()


def _faults_of(error: ValidationError) -> str:
    faults = faults_of(error)
    reasons = "; ".join(faults[:_MAX_FAULTS])
    return f"{reasons}; and {len(faults) - _MAX_FAULTS} more" if len(faults) > _MAX_FAULTS else reasons
