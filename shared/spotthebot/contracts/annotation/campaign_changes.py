"""Changes of a campaign, as a JSON merge patch (RFC 7396) of the document that would create the campaign."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from pydantic import GetJsonSchemaHandler, JsonValue, RootModel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut, CampaignState

Document = dict[str, JsonValue]
_NEVER: Final = frozenset({"collection_id", "open", "secret"})
"""Keys that only a new campaign has: an abbreviation, a flag that `POST .../open` replaces, a secret."""
CHANGEABLE: Final = tuple(name for name in CampaignIn.model_fields if name not in _NEVER)


FIXED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "domain": "its conversations are of this domain",
        "human_share": "which conversations are shown was drawn by it",
        "mode": "it says who makes the packages: make another campaign",
        "pairs": "its pairs were drawn by it",
        "units_twice": "the units that two annotators see were drawn by it",
        "segments": "packages show these lengths, and labels at others can't be compared with them",
        "package_size": "its packages are made",
        "protocol": "annotators were asked by it, and labels by another one can't be compared with theirs",
        "protocol_version": "annotators were asked by it, and labels by another one can't be compared with theirs",
        "gold": "packages hold these items, and annotators were checked by them",
        "headline": "who ranks bots by it named it before there were labels: ask for another measure by its name",
        "seed": "its packages were drawn by it",
        "annotators_published": "exports before would name annotators otherwise",
    }
)
"""Keys that can't change once a campaign was opened, with the reasons. The mode of a draft can't change either."""
UNSEEN: Final = frozenset({CampaignState.DRAFT, CampaignState.FAILED})
"""States in which nobody has seen a package."""
_LASTING: Final = frozenset({"name", "panel"})
"""Keys that may change in a closed campaign: annotators with a package still return to their panel."""


def fixed_keys(state: CampaignState) -> frozenset[str]:
    """Return the keys of a campaign that can't change in this state, whatever the new values are."""
    if state in UNSEEN:
        return frozenset({"mode"})
    return frozenset(CHANGEABLE) - _LASTING if state is CampaignState.CLOSED else frozenset(FIXED)


class CampaignChangesIn(RootModel[Document]):
    """Keys of a campaign with their new values, as a merge patch (RFC 7396); null restores the default."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler.resolve_ref_schema(handler(core_schema))
        campaign = handler.resolve_ref_schema(handler(CampaignIn.__pydantic_core_schema__))
        keys = {name: _nullable(described) for name, described in campaign["properties"].items() if name in CHANGEABLE}
        schema |= {"properties": keys, "additionalProperties": False, "maxProperties": len(keys)}
        return schema


def document_of(campaign: object) -> Document:
    """Return the document that would create a campaign again, without its secret.

    `campaign` is an object with the field names of `CampaignIn`.
    """
    known: dict[str, Any] = {name: getattr(campaign, name) for name in CHANGEABLE}
    return CampaignIn.model_construct(**known).model_dump(mode="json", include=set(known), warnings=False)


def changed(document: JsonValue, changes: JsonValue) -> JsonValue:
    """Return a document after a merge patch was applied to it."""
    if not isinstance(changes, dict):
        return changes
    result: Document = dict(document) if isinstance(document, dict) else {}
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = changed(result.get(name), value)
    return result


def changes_between(before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> Document:
    """Return the merge patch that turns `before` into `after`."""
    changes: Document = {}
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old != new:
            is_inside = isinstance(old, dict) and isinstance(new, dict)
            changes[name] = changes_between(old, new) if is_inside else new  # type: ignore[arg-type]
    return changes


def _nullable(schema: JsonSchemaValue) -> JsonSchemaValue:
    described = {name: value for name, value in schema.items() if name not in {"default", "title", "description"}}
    said = {name: schema[name] for name in ("title", "description") if name in schema}
    if {"type": "null"} not in schema.get("anyOf", ()):
        described = {"anyOf": [described, {"type": "null"}]}
    return said | described


def changes_to(campaign: CampaignOut, request: CampaignIn) -> Document:
    """Return the changes that turn a campaign into the requested one.

    A protocol or training that is requested without a version keeps its version.
    """
    there, here = document_of(campaign), document_of(request)
    if here["protocol"] == there["protocol"] and here["protocol_version"] is None:
        here["protocol_version"] = there["protocol_version"]
    for key, name in (("training", "name"), ("gold", "training")):
        old, new = there[key], here[key]
        if isinstance(old, dict) and isinstance(new, dict) and old[name] == new[name] and new["version"] is None:
            new["version"] = old["version"]
    return changes_between(there, here)
