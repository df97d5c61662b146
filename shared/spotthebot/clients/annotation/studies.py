"""Studies of `annotation`: campaigns over the same dialogues."""

from typing import Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, Listing, Paging, operation
from spotthebot.contracts.annotation.studies import StudyIn, StudyOut


class StudyOperations:
    """Studies of `annotation`: campaigns over the same dialogues."""

    @operation
    def list_studies(self, *, name: str | None = None, **paging: Unpack[Paging]) -> Listing[StudyOut]:
        """List studies, oldest first."""
        return Listing(StudyOut, "/v1/studies", paging, params={"name": name})

    @operation
    def create_study(self, study: StudyIn, *, idempotency_key: str | None = None) -> Call[StudyOut]:
        """Create a study of existing campaigns."""
        return Call(StudyOut, "POST", "/v1/studies", body=study, idempotency_key=idempotency_key)

    @operation
    def get_study(self, study_id: UUID) -> Call[StudyOut]:
        """Return a study: its campaigns, its chats and its outcome."""
        return Call(StudyOut, "GET", f"/v1/studies/{study_id}")

    @operation
    def replace_study(self, study_id: UUID, study: StudyIn) -> Call[StudyOut]:
        """Replace what a study says, for example to add a task."""
        return Call(StudyOut, "PUT", f"/v1/studies/{study_id}", body=study)

    @operation
    def delete_study(self, study_id: UUID) -> Call[None]:
        """Delete a study; its campaigns stay."""
        return Call(type(None), "DELETE", f"/v1/studies/{study_id}")
