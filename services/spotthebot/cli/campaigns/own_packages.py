"""Uploads the packages that a campaign's file lists, or compares them with the packages that the campaign has."""

from collections.abc import Iterator, Mapping, Sequence

from spotthebot.cli.campaigns.declaration_file import CampaignDeclared
from spotthebot.cli.campaigns.refusals import refusal_of
from spotthebot.cli.declarations.yaml_file import Place
from spotthebot.clients import AsyncAnnotation, PeerRefused
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.exports import ExportedItem, ExportedRows
from spotthebot.contracts.annotation.packages import PackageOut
from spotthebot.contracts.annotation.uploads import PackageBatchIn, PackageIn

_Shown = tuple[str, int]
"""A conversation by its id, and the number of exchanges."""
_Named = tuple[_Shown, ...]


async def upload_packages(annotation: AsyncAnnotation, declared: CampaignDeclared, campaign: CampaignOut) -> None:
    """Upload the file's packages to a campaign without any, or check that the campaign has the same.

    Raises DeclarationFaulty with every difference, or with the faults that the service finds.
    """
    if not declared.request.packages:
        return
    if campaign.packages:
        await check_packages(annotation, declared, campaign)
        return
    try:
        await annotation.import_packages(campaign.id, PackageBatchIn(packages=declared.request.packages))
    except PeerRefused as refused:
        raise refusal_of(declared, refused) from refused


async def check_packages(annotation: AsyncAnnotation, declared: CampaignDeclared, campaign: CampaignOut) -> None:
    """Raise DeclarationFaulty with every difference between the file's packages and those of a campaign that has any.

    The service stores all packages of a file, or none of them.
    """
    said = declared.request.packages
    if not said or not campaign.packages:
        return
    there = {each.external_id or "": each async for each in annotation.list_packages(campaign.id)}
    download = annotation.export_campaign(campaign.id, rows=ExportedRows.PACKAGES)
    lines = filter(None, b"".join([part async for part in download]).split(b"\n"))
    exported: dict[str, list[ExportedItem]] = {}
    for item in map(ExportedItem.model_validate_json, lines):
        exported.setdefault(item.package, []).append(item)
    faults = [*_differences(said, there, exported)]
    needed = sum(each.annotators or campaign.annotations_per_segment for each in said)
    if not faults and needed != campaign.assignments_needed:
        there_needed = campaign.assignments_needed
        faults = [(("packages",), f"they need {needed} annotators in all here, {there_needed} there. {_ADVICE}")]
    if faults:
        raise declared.faulty(*faults)


_ADVICE = "Packages of a campaign stay: name another campaign, or delete its draft."


def _differences(
    said: Sequence[PackageIn], there: Mapping[str, PackageOut], exported: Mapping[str, Sequence[ExportedItem]]
) -> Iterator[tuple[Place, str]]:
    for number, package in enumerate(said):
        found = there.get(package.external_id)
        if found is None:
            yield ("packages", number), f"the campaign has no package '{package.external_id}'. {_ADVICE}"
        elif not _shows(package, found, exported[package.external_id]):
            yield ("packages", number), f"'{package.external_id}' shows something else there. {_ADVICE}"
    if more := sorted(there.keys() - {each.external_id for each in said}):
        yield ("packages",), f"the campaign also has the package '{more[0]}'. {_ADVICE}"


def _shows(said: PackageIn, there: PackageOut, exported: Sequence[ExportedItem]) -> bool:
    """Return whether a package shows the same, with conversations by the suite's own ids or by those of exports."""
    named = [
        tuple((shown.conversation, shown.exchanges) for shown in (each, each.right) if shown is not None)
        for each in said.segments
    ]
    own = [
        tuple((str(shown.conversation_id), shown.exchanges) for shown in (each, each.right) if shown is not None)
        for each in there.segments
    ]
    external = [
        _given((each.conversation, each.exchanges), (each.right_conversation, each.right_exchanges))
        for each in sorted(exported, key=lambda each: each.position)
    ]
    return len(named) == len(own) and all(
        len(one) == len(other) and all(shown in pair for shown, *pair in zip(one, other, third, strict=True))
        for one, other, third in zip(named, own, external, strict=True)
    )


def _given(left: _Shown, right: tuple[str | None, int | None]) -> _Named:
    conversation, exchanges = right
    return (left,) if conversation is None or exchanges is None else (left, (conversation, exchanges))
