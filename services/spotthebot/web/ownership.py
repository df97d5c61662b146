"""Whose a package is: the key of this frontend opens the packages of all its annotators, a person only their own."""

from collections import OrderedDict
from uuid import UUID

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.assignments import AssignmentOut
from spotthebot.web.domain.errors import NotYourPackage
from spotthebot.web.domain.visitors import Annotator


class PackageOwners:
    """Remembers to whom packages were given, which never changes, so that a save needs one request."""

    def __init__(self, *, max_remembered: int = 20_000) -> None:
        self._owners: OrderedDict[UUID, tuple[UUID, str]] = OrderedDict()
        self._max_remembered = max_remembered

    def remember(self, assignment: AssignmentOut) -> None:
        """Note to whom a package was given."""
        self._owners[assignment.id] = (assignment.campaign_id, assignment.annotator)
        self._owners.move_to_end(assignment.id)
        if len(self._owners) > self._max_remembered:
            self._owners.popitem(last=False)

    async def require(self, service: AsyncAnnotation, assignment_id: UUID, annotator: Annotator) -> None:
        """Raise NotYourPackage unless the package was given to this annotator; asks the service once a package."""
        if assignment_id not in self._owners:
            self.remember(await service.get_assignment(assignment_id))
        self._check(self._owners[assignment_id], annotator)

    async def get(self, service: AsyncAnnotation, assignment_id: UUID, annotator: Annotator) -> AssignmentOut:
        """Return a package of this annotator; raises NotYourPackage."""
        found = await service.get_assignment(assignment_id)
        self._check((found.campaign_id, found.annotator), annotator)
        self.remember(found)
        return found

    @staticmethod
    def _check(owner: tuple[UUID, str], annotator: Annotator) -> None:
        if owner != (annotator.campaign_id, annotator.annotator):
            raise NotYourPackage
