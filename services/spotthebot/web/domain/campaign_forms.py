"""The form of a campaign, new or changed: what an administrator typed, as the service `annotation` takes it."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from pydantic import JsonValue, ValidationError

from spotthebot.contracts.annotation.campaign_changes import UNSEEN, document_of, fixed_keys
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut, CampaignState
from spotthebot.contracts.annotation.requirements import GoldItems, RequiredTraining
from spotthebot.kit.text.validation import reason_of
from spotthebot.web.domain.decisions import amount_of

PANELS: Final = ("", "prolific", "cloudresearch", "generic")
_OF_CAMPAIGNS: Final = CampaignIn.model_fields
DEFAULTS: Final[Mapping[str, str]] = {
    "segments": ", ".join(map(str, _OF_CAMPAIGNS["segments"].default)),
    "annotations_per_segment": str(_OF_CAMPAIGNS["annotations_per_segment"].default),
    "package_size": str(_OF_CAMPAIGNS["package_size"].default),
    "lease_minutes": str(_OF_CAMPAIGNS["lease_minutes"].default),
    "seed": str(_OF_CAMPAIGNS["seed"].default),
    "protocol": str(_OF_CAMPAIGNS["protocol"].default),
    "attempts": str(RequiredTraining.model_fields["attempts"].default),
    "per_package": str(GoldItems.model_fields["per_package"].default),
}
FIELDS: Final = (
    "name",
    "collections",
    "protocol",
    "segments",
    "annotations_per_segment",
    "package_size",
    "packages_per_annotator",
    "lease_minutes",
    "pay_per_package",
    "currency",
    "panel",
    "completion_code",
    "redirect_url",
    "parameter",
    "instructions",
    "consent",
    "training",
    "attempts",
    "gold",
    "per_package",
    "max_strikes",
    "min_seconds_per_item",
    "min_fraction_of_median",
    "strike_fast_packages",
    "human_share",
    "seed",
)
"""In the order of the page."""
_PARTS: Final[Mapping[str, str]] = {"attempts": "training", "per_package": "gold"}
"""Fields that are part of what another field says."""
_PANEL_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "prolific": ("completion_code",),
    "cloudresearch": ("completion_code", "redirect_url"),
    "generic": ("parameter", "redirect_url"),
}
_READ: Final = frozenset({"collections", "protocol", "segments", "panel", "training", "gold", "strike_fast_packages"})
"""Fields of a campaign that are typed in another form than the service takes."""
_AS_TYPED: Final = frozenset(FIELDS) & CampaignIn.model_fields.keys() - _READ
_SOME_DOMAIN: Final = "unknown"
_SOME_COLLECTION: Final = str(UUID(int=0))


@dataclass(frozen=True)
class CampaignForm:
    """What stands in the fields, and what is wrong with them, by field; `""` is about the whole."""

    values: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    collections: Sequence[str] = ()
    faults: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def sent(cls, given: Mapping[str, str], collections: Sequence[str]) -> "CampaignForm":
        """Return the form as it was sent."""
        return cls({name: given.get(name, "").strip() for name in FIELDS if name != "collections"}, collections)

    @classmethod
    def of(cls, campaign: CampaignOut) -> "CampaignForm":
        """Return the form as it would have been filled in for a campaign."""
        document = document_of(campaign)
        values = {name: "" for name in FIELDS if name != "collections"}
        values |= {name: str(document[name]) for name in _AS_TYPED if document[name] is not None}
        values["segments"] = ", ".join(map(str, campaign.segments))
        values["protocol"] = f"{campaign.protocol}:{campaign.protocol_version}"
        values["strike_fast_packages"] = "on" if campaign.strike_fast_packages else ""
        if campaign.training:
            values["training"] = f"{campaign.training.name}:{campaign.training.version}"
            values["attempts"] = str(campaign.training.attempts)
        if campaign.gold:
            values["gold"] = f"{campaign.gold.training}:{campaign.gold.version}"
            values["per_package"] = str(campaign.gold.per_package)
        if campaign.panel:
            panel = campaign.panel.model_dump(exclude_none=True)
            values |= {"panel": panel.pop("kind"), **panel}
        defaults = {name: DEFAULTS[name] for name in _PARTS}
        return cls(defaults | values, [str(each) for each in campaign.collections])

    @classmethod
    def changed(cls, before: "CampaignForm", typed: "CampaignForm", fixed: Collection[str]) -> "CampaignForm":
        """Return what was typed, but in fields that can't change what they were; those of before come first."""
        kept = {name: before.values.get(name, "") for name in fixed}
        first = [each for each in before.collections if each in typed.collections]
        more = [each for each in typed.collections if each not in first]
        return cls({**typed.values, **kept}, [*first, *more])

    def with_faults(self, faults: Mapping[str, str]) -> "CampaignForm":
        """Return the same with what is wrong, in the order of the page."""
        found = {_field(pointer): said for pointer, said in faults.items()}
        order = {name: number for number, name in enumerate(FIELDS)}
        in_order = sorted(found.items(), key=lambda fault: order.get(fault[0], len(order)))
        return CampaignForm(self.values, self.collections, dict(in_order))

    def read(
        self, domains: Mapping[str, str], *, like: Mapping[str, JsonValue] | None = None
    ) -> "CampaignIn | CampaignForm":
        """Return the campaign, or the form with all its faults; `domains` are those of the collections, by id.

        What the form does not ask for is as in `like`.
        """
        chosen = {domains[each] for each in self.collections if each in domains}
        faults = {}
        if len(chosen) != 1:
            faults["/collections"] = "choose collections of one domain" if chosen else "choose at least one collection"
        asked = {*FIELDS, "domain", "protocol_version"}
        document = {name: value for name, value in (like or {}).items() if name not in asked}
        document |= self._document(chosen.pop() if len(chosen) == 1 else _SOME_DOMAIN)
        if "/collections" in faults:
            document["collections"] = [_SOME_COLLECTION]
        read = _validated(document)
        if isinstance(read, CampaignIn):
            return self.with_faults(faults) if faults else read
        # What is sound may not fit together: that is checked without the rest.
        wrong = {pointer.split("/")[1] for pointer in read}
        together = _validated({"name": "-", **{name: value for name, value in document.items() if name not in wrong}})
        if isinstance(together, dict):
            faults |= {at: said for at, said in together.items() if not any(name in said for name in wrong - {""})}
        return self.with_faults(faults | read)

    def _document(self, domain: str) -> dict[str, Any]:
        typed = {name: value for name, value in self.values.items() if value and name in _AS_TYPED}
        protocol, protocol_version = self._version_of("protocol")
        panel = self.values["panel"]
        document: dict[str, Any] = {
            **typed,
            "domain": domain,
            "collections": list(self.collections),
            "protocol": protocol or DEFAULTS["protocol"],
            "protocol_version": protocol_version,
            "segments": [part for part in re.split(r"[,;\s]+", self.values["segments"]) if part],
            "strike_fast_packages": bool(self.values["strike_fast_packages"]),
            "open": False,
        }
        if "pay_per_package" in typed:
            document["pay_per_package"] = amount_of(typed["pay_per_package"])
        if self.values["training"]:
            name, version = self._version_of("training")
            document["training"] = {
                "name": name,
                "version": version,
                "attempts": self.values["attempts"] or DEFAULTS["attempts"],
            }
        if self.values["gold"]:
            name, version = self._version_of("gold")
            document["gold"] = {
                "training": name,
                "version": version,
                "per_package": self.values["per_package"] or DEFAULTS["per_package"],
            }
        if panel:
            own = {name: self.values[name] for name in _PANEL_FIELDS.get(panel, ()) if self.values[name]}
            document["panel"] = {"kind": panel, **own}
        return document

    def _given(self, name: str) -> str:
        return self.values[name] or DEFAULTS[name]

    def _version_of(self, name: str) -> tuple[str, str | None]:
        chosen, _, version = self.values[name].partition(":")
        return chosen, version or None


def _validated(document: Mapping[str, Any]) -> CampaignIn | dict[str, str]:
    """Return the campaign, or what is wrong by JSON pointer."""
    try:
        return CampaignIn.model_validate(document)
    except ValidationError as error:
        return {_pointer(fault["loc"]): _said(fault) for fault in reversed(error.errors())}


def _said(fault: Mapping[str, Any]) -> str:
    """Return what is wrong; of an entry of a list, with the entry."""
    is_entry = len(fault["loc"]) > 1 and fault["loc"][0] == "segments"
    return f"'{fault['input']}' {reason_of(fault)}" if is_entry else reason_of(fault)


def fixed_fields(state: CampaignState) -> frozenset[str]:
    """Return the fields that can't be changed in a state."""
    fixed = fixed_keys(state)
    if state in UNSEEN:
        return fixed
    return fixed | {"panel", "training"} | {name for name, of in _PARTS.items() if of in fixed}


def _pointer(place: Sequence[int | str]) -> str:
    return "/" + "/".join(map(str, place))


def _field(pointer: str) -> str:
    """Return the field that a JSON pointer is about: of a panel the last part, of a list the list."""
    if pointer.startswith("/gold/") and not pointer.endswith("/per_package"):
        return "gold"
    parts = [part for part in pointer.strip("/").split("/") if part]
    return next((part for part in (*reversed(parts[1:]), *parts[:1]) if part in FIELDS), "")
