"""The form of a new campaign: what an administrator typed, as the service `annotation` takes it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from spotthebot.contracts.annotation import CampaignIn
from spotthebot.kit.validation import reason_of
from spotthebot.web.domain.decisions import amount_of

PANELS: Final = ("", "prolific", "cloudresearch", "generic", "mturk")
DEFAULTS: Final[Mapping[str, str]] = {
    "segments": "2, 3, 5",
    "annotations_per_segment": "2",
    "package_size": "20",
    "lease_minutes": "60",
    "seed": "0",
    "protocol": "spot_the_bot",
    "attempts": "1",
    "per_package": "1",
}
FIELDS: Final = (
    "name",
    "protocol",
    "segments",
    "annotations_per_segment",
    "package_size",
    "packages_per_annotator",
    "lease_minutes",
    "human_share",
    "pay_per_package",
    "currency",
    "instructions",
    "consent",
    "panel",
    "completion_code",
    "redirect_url",
    "parameter",
    "training",
    "attempts",
    "gold",
    "per_package",
    "max_strikes",
    "min_seconds_per_item",
    "min_fraction_of_median",
    "strike_fast_packages",
    "seed",
)
_PANEL_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "prolific": ("completion_code",),
    "cloudresearch": ("completion_code", "redirect_url"),
    "generic": ("parameter", "redirect_url"),
    "mturk": (),
}
_AS_TYPED: Final = frozenset(
    {
        "name",
        "annotations_per_segment",
        "package_size",
        "packages_per_annotator",
        "lease_minutes",
        "human_share",
        "pay_per_package",
        "currency",
        "instructions",
        "consent",
        "max_strikes",
        "min_seconds_per_item",
        "min_fraction_of_median",
        "seed",
    }
)


@dataclass(frozen=True)
class CampaignForm:
    """What stands in the fields, and what is wrong with them, by field; `""` is about the whole."""

    values: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    collections: Sequence[str] = ()
    faults: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def sent(cls, given: Mapping[str, str], collections: Sequence[str]) -> "CampaignForm":
        """Return the form as it was sent."""
        return cls({name: given.get(name, "").strip() for name in FIELDS}, collections)

    def with_faults(self, faults: Mapping[str, str]) -> "CampaignForm":
        """Return the same with what is wrong."""
        return CampaignForm(self.values, self.collections, {_field(pointer): said for pointer, said in faults.items()})

    def read(self, domains: Mapping[str, str]) -> "CampaignIn | CampaignForm":
        """Return the campaign, or the form with its faults; `domains` are those of the collections, by id."""
        chosen = {domains[each] for each in self.collections if each in domains}
        if len(chosen) != 1:
            said = "choose at least one collection" if not chosen else "choose collections of one domain"
            return self.with_faults({"collections": said})
        try:
            return CampaignIn.model_validate(self._document(chosen.pop()))
        except ValidationError as error:
            return self.with_faults({_pointer(fault["loc"]): reason_of(fault) for fault in reversed(error.errors())})

    def _document(self, domain: str) -> dict[str, Any]:
        typed = {name: value for name, value in self.values.items() if value and name in _AS_TYPED}
        protocol, protocol_version = self._version_of("protocol")
        panel = self.values["panel"]
        document: dict[str, Any] = {
            **typed,
            "domain": domain,
            "collections": list(self.collections),
            "protocol": protocol or "spot_the_bot",
            "protocol_version": protocol_version,
            "segments": [part for part in re.split(r"[,;\s]+", self.values["segments"]) if part],
            "strike_fast_packages": bool(self.values["strike_fast_packages"]),
            "open": False,
        }
        if "pay_per_package" in typed:
            document["pay_per_package"] = amount_of(typed["pay_per_package"])
        if self.values["training"]:
            name, version = self._version_of("training")
            document["training"] = {"name": name, "version": version, "attempts": self.values["attempts"] or 1}
        if self.values["gold"]:
            name, version = self._version_of("gold")
            document["gold"] = {"training": name, "version": version, "per_package": self.values["per_package"] or 1}
        if panel:
            own = {name: self.values[name] for name in _PANEL_FIELDS.get(panel, ()) if self.values[name]}
            document["panel"] = {"kind": panel, **own}
        return document

    def _version_of(self, name: str) -> tuple[str, str | None]:
        chosen, _, version = self.values[name].partition(":")
        return chosen, version or None


def _pointer(place: Sequence[int | str]) -> str:
    return "/" + "/".join(map(str, place))


def _field(pointer: str) -> str:
    """Return the field that a JSON pointer is about: of a panel the last part, of a list the list."""
    if pointer.startswith("/gold/") and not pointer.endswith("/per_package"):
        return "gold"
    parts = [part for part in pointer.strip("/").split("/") if part]
    return next((part for part in (*reversed(parts[1:]), *parts[:1]) if part in {*FIELDS, "collections"}), "")
