"""Operations on corpora of human dialogues, and on partner sets."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Unpack
from urllib.parse import quote
from uuid import UUID

from spotthebot.clients.operations import Call, IdempotencyKey, Listing, Paging, operation
from spotthebot.clients.requests import Content
from spotthebot.contracts.batches import StoredOut
from spotthebot.contracts.conversations.corpora import (
    CorpusChangesIn,
    CorpusFormat,
    CorpusIn,
    CorpusOut,
    DialogueBatchIn,
    DialogueOut,
    LearnableRevisionOut,
    UploadOut,
)
from spotthebot.contracts.conversations.partner_sets import PartnerSetIn, PartnerSetOut


class CorpusOperations:
    """`/v1/corpora` and `/v1/partner-sets`."""

    @operation
    def list_corpora(self, *, name: str | None = None, **paging: Unpack[Paging]) -> Listing[CorpusOut]:
        """List corpora, oldest first."""
        return Listing(CorpusOut, "/v1/corpora", paging, params={"name": name})

    @operation
    def create_corpus(self, corpus: CorpusIn, **key: Unpack[IdempotencyKey]) -> Call[CorpusOut]:
        """Create an empty corpus."""
        return Call(CorpusOut, "POST", "/v1/corpora", body=corpus, **key)

    @operation
    def get_corpus(self, corpus_id: UUID) -> Call[CorpusOut]:
        """Return a corpus and its size by split."""
        return Call(CorpusOut, "GET", f"/v1/corpora/{corpus_id}")

    @operation
    def change_corpus(
        self, corpus_id: UUID, changes: CorpusChangesIn, **key: Unpack[IdempotencyKey]
    ) -> Call[CorpusOut]:
        """Change which bots may learn from a corpus."""
        return Call(CorpusOut, "PATCH", f"/v1/corpora/{corpus_id}", body=changes, **key)

    @operation
    def remove_corpus(self, corpus_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[None]:
        """Delete a corpus for good.

        The request is refused if a collection uses its texts, or if a bot learns from it.
        """
        return Call(type(None), "DELETE", f"/v1/corpora/{corpus_id}", **key)

    @operation
    def list_dialogues(
        self, corpus_id: UUID, *, split: str | None = None, **paging: Unpack[Paging]
    ) -> Listing[DialogueOut]:
        """List dialogues in the order of their upload."""
        return Listing(DialogueOut, f"/v1/corpora/{corpus_id}/dialogues", paging, params={"split": split})

    @operation
    def list_learnable_dialogues(
        self, corpus_id: UUID, *, split: str, team: str | None = None, **paging: Unpack[Paging]
    ) -> Listing[DialogueOut]:
        """List the dialogues of a split that the bots of `team` may learn from.

        If `team` is None, list the dialogues that the operator's bots may learn from.
        """
        path = f"/v1/corpora/{corpus_id}/learnable-dialogues"
        return Listing(DialogueOut, path, paging, params={"split": split, "team": team})

    @operation
    def learnable_revision(self, corpus_id: UUID, *, split: str, team: str | None = None) -> Call[LearnableRevisionOut]:
        """Return a revision of the dialogues of a split that bots may learn from.

        If these dialogues change, the revision changes.
        """
        path = f"/v1/corpora/{corpus_id}/learnable-dialogues/revision"
        return Call(LearnableRevisionOut, "GET", path, params={"split": split, "team": team})

    @operation
    def add_dialogues(self, corpus_id: UUID, batch: DialogueBatchIn, **key: Unpack[IdempotencyKey]) -> Call[StoredOut]:
        """Add dialogues. A dialogue with a known key stays unchanged, so a batch can be sent again."""
        return Call(StoredOut, "POST", f"/v1/corpora/{corpus_id}/dialogues", body=batch, **key)

    @operation
    def upload_dialogues(
        self,
        corpus_id: UUID,
        content: Path | bytes | Iterable[bytes],
        form: CorpusFormat,
        *,
        split: str | None = None,
        splits: str | None = None,
        speakers: Literal["humans", "all"] | None = None,
    ) -> Call[UploadOut]:
        """Store the dialogues of a file. The client sends the file's bytes unchanged.

        A line without a valid dialogue is rejected; the other lines are stored.
        """
        params = {"format": form.value, "split": split, "splits": splits, "speakers": speakers}
        return Call(UploadOut, "POST", f"/v1/corpora/{corpus_id}/uploads", params=params, content=Content(content))

    @operation
    def list_partner_sets(self, *, name: str | None = None, **paging: Unpack[Paging]) -> Listing[PartnerSetOut]:
        """List all versions of partner sets, oldest first."""
        return Listing(PartnerSetOut, "/v1/partner-sets", paging, params={"name": name})

    @operation
    def create_partner_set(self, partner_set: PartnerSetIn, **key: Unpack[IdempotencyKey]) -> Call[PartnerSetOut]:
        """Store partners under a name. If the name is known, they become its next version."""
        return Call(PartnerSetOut, "POST", "/v1/partner-sets", body=partner_set, **key)

    @operation
    def get_partner_set(self, name: str, version: int) -> Call[PartnerSetOut]:
        """Return one version of a partner set; it never changes."""
        return Call(PartnerSetOut, "GET", f"/v1/partner-sets/{quote(name, safe='')}/versions/{version}")
