"""Versions of judges, and the labels that judges submit."""

from typing import Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, Listing, Paging, operation
from spotthebot.contracts.annotation.assignments import JudgeSubmissionIn, SubmittedOut
from spotthebot.contracts.annotation.judges import JudgeIn, JudgeVersionOut


class JudgeOperations:
    """Versions of judges, and the labels that judges submit."""

    @operation
    def create_judge(self, judge: JudgeIn, *, idempotency_key: str | None = None) -> Call[JudgeVersionOut]:
        """Store the next version of a judge. The same settings are the same version."""
        return Call(JudgeVersionOut, "POST", "/v1/judges", body=judge, idempotency_key=idempotency_key)

    @operation
    def list_judges(self, *, name: str | None = None, **paging: Unpack[Paging]) -> Listing[JudgeVersionOut]:
        """List versions of judges, oldest first; with `name`, only those of one judge."""
        return Listing(JudgeVersionOut, "/v1/judges", paging, params={"name": name})

    @operation
    def get_judge(self, name: str, version: int) -> Call[JudgeVersionOut]:
        """Return a version of a judge."""
        return Call(JudgeVersionOut, "GET", f"/v1/judges/{name}/versions/{version}")

    @operation
    def submit_judge_labels(self, assignment_id: UUID, labels: JudgeSubmissionIn) -> Call[SubmittedOut]:
        """Submit the package that a judge holds: all items, with probabilities. A repeat returns the same answer."""
        path = f"/v1/assignments/{assignment_id}/judge-labels"
        return Call(SubmittedOut, "POST", path, body=labels).changing_once()
