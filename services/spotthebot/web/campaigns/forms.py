"""The form of a new or changed campaign: it converts an administrator's texts to a request to `annotation`."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args
from uuid import UUID

from pydantic import Field, JsonValue, ValidationError, model_validator

from spotthebot.contracts.annotation.annotations import AnnotatorId
from spotthebot.contracts.annotation.campaign_changes import UNSEEN, document_of, fixed_keys
from spotthebot.contracts.annotation.campaign_settings import Pairs
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut, CampaignState
from spotthebot.contracts.annotation.entries import EntryLinkIn
from spotthebot.contracts.annotation.panels import Panel
from spotthebot.contracts.annotation.requirements import GoldItems, RequiredTraining
from spotthebot.contracts.annotation.verdicts import StopAtWidth
from spotthebot.kit.text.validation import reason_of
from spotthebot.web.layout.forms import amount_of, as_typed, kinds_of

_MAX_LINKS: Final = 100
FIELDS: Final = (
    "name",
    "collections",
    "protocol",
    "segments",
    "pairs",
    "annotations_per_segment",
    "judge_annotations_per_segment",
    "units_twice",
    "headline",
    "margin",
    "stop_when",
    "width",
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
"""The form's fields, in the order of the page."""
_PARTS: Final[Mapping[str, str]] = {"attempts": "training", "per_package": "gold", "width": "stop_when"}
"""Fields that are part of the object in another field."""
DEFAULTS: Final[Mapping[str, str]] = {
    name: shown
    for of in (CampaignIn, RequiredTraining, GoldItems)
    for name, each in of.model_fields.items()
    if name in FIELDS and not each.is_required() and (shown := as_typed(each.default))
}
"""The values in a new form: the API's defaults, except defaults that are an empty text."""
_PANELS: Final = kinds_of(Panel)
PANELS: Final = ("", *_PANELS)
PAIRS: Final[tuple[str, ...]] = get_args(Pairs)
AT_WIDTH: Final = "width"
STOPS: Final = ("", "every_pair_decided", AT_WIDTH)
_READ: Final = frozenset(
    {"collections", "protocol", "segments", "stop_when", "panel", "training", "gold", "strike_fast_packages"}
)
"""Fields of a campaign whose text in the form must be converted for the service."""
_AS_TYPED: Final = frozenset(FIELDS) & CampaignIn.model_fields.keys() - _READ
_SOME_DOMAIN: Final = "unknown"
_SOME_COLLECTION: Final = str(UUID(int=0))


@dataclass(frozen=True)
class CampaignForm:
    """The texts in the form's fields, and the faults by field. The key `""` is for a fault of the whole form."""

    values: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    collections: Sequence[str] = ()
    faults: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def sent(cls, given: Mapping[str, str], collections: Sequence[str]) -> "CampaignForm":
        """Return the form with the texts that the browser sent."""
        return cls({name: given.get(name, "").strip() for name in FIELDS if name != "collections"}, collections)

    @classmethod
    def of(cls, campaign: CampaignOut) -> "CampaignForm":
        """Return the form filled in with the values of an existing campaign."""
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
        if isinstance(campaign.stop_when, StopAtWidth):
            values |= {"stop_when": AT_WIDTH, "width": as_typed(campaign.stop_when.width)}
        elif campaign.stop_when:
            values["stop_when"] = campaign.stop_when
        if campaign.panel:
            panel = campaign.panel.model_dump(exclude_none=True)
            values |= {"panel": panel.pop("kind"), **panel}
        defaults = {name: DEFAULTS.get(name, "") for name in _PARTS}
        return cls(defaults | values, [str(each) for each in campaign.collections])

    @classmethod
    def changed(cls, before: "CampaignForm", typed: "CampaignForm", fixed: Collection[str]) -> "CampaignForm":
        """Return the form `typed`, with the values of `before` in the `fixed` fields.

        The collections of `before` stand first, then the added ones.
        """
        kept = {name: before.values.get(name, "") for name in fixed}
        first = [each for each in before.collections if each in typed.collections]
        more = [each for each in typed.collections if each not in first]
        return cls({**typed.values, **kept}, [*first, *more])

    def with_faults(self, faults: Mapping[str, str]) -> "CampaignForm":
        """Return the same form with faults, in the order of the page's fields."""
        found = {_field(pointer): said for pointer, said in faults.items()}
        order = {name: number for number, name in enumerate(FIELDS)}
        in_order = sorted(found.items(), key=lambda fault: order.get(fault[0], len(order)))
        return CampaignForm(self.values, self.collections, dict(in_order))

    def read(
        self, domains: Mapping[str, str], *, like: Mapping[str, JsonValue] | None = None
    ) -> "CampaignIn | CampaignForm":
        """Return the campaign that the form describes, or the form with all its faults.

        `domains` holds the domain of each collection, by the collection's id. Settings that the form does not have are
        taken from `like`.
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
        typed = self._filled_in(*_AS_TYPED)
        panel = self.values["panel"]
        document: dict[str, Any] = {
            **typed,
            "domain": domain,
            "collections": list(self.collections),
            **self._of_version("protocol", "protocol", "protocol_version"),
            "segments": [part for part in re.split(r"[,;\s]+", self.values["segments"]) if part],
            "strike_fast_packages": bool(self.values["strike_fast_packages"]),
            "open": False,
        }
        if "pay_per_package" in typed:
            document["pay_per_package"] = amount_of(typed["pay_per_package"])
        if self.values["training"]:
            document["training"] = self._of_version("training", "name", "version") | self._filled_in("attempts")
        if self.values["gold"]:
            document["gold"] = self._of_version("gold", "training", "version") | self._filled_in("per_package")
        if stop_when := self.values["stop_when"]:
            document["stop_when"] = self._filled_in("width") if stop_when == AT_WIDTH else stop_when
        if panel:
            fields = _PANELS[panel].model_fields if panel in _PANELS else {}
            document["panel"] = {"kind": panel} | self._filled_in(*(fields.keys() & FIELDS))
        return document

    def _filled_in(self, *names: str) -> dict[str, str]:
        return {name: self.values[name] for name in names if self.values[name]}

    def _of_version(self, field: str, name: str, version: str) -> dict[str, str]:
        """Split the choice `NAME:VERSION` of a field, and return its two parts under the keys `name` and `version`."""
        chosen = self.values[field].partition(":")
        return {each: typed for each, typed in ((name, chosen[0]), (version, chosen[2])) if typed}


class EntryLinkForm(EntryLinkIn):
    """The form that makes entry links: one for each of `people`, or one for the people of a panel.

    It ignores `signed_ids` for links to one person each, since only panels sign ids.
    """

    people: tuple[AnnotatorId, ...] = Field(default=(), max_length=_MAX_LINKS)

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, typed: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: each.strip() if isinstance(each, str) else each for name, each in typed.items()}
        lines = "\n".join(given.pop("people", ())).split("\n")
        people = tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
        kept = {name: each for name, each in given.items() if each != "" and not (name == "signed_ids" and people)}
        return kept | {"people": people}

    @property
    def links(self) -> list[EntryLinkIn]:
        """The links to make, in the order of the people."""
        shared = self.model_dump(exclude={"people", "annotator"})
        return [EntryLinkIn(annotator=person, **shared) for person in self.people or (None,)]


def _validated(document: Mapping[str, Any]) -> CampaignIn | dict[str, str]:
    """Return the validated campaign, or the faults of the document by JSON pointer."""
    try:
        return CampaignIn.model_validate(document)
    except ValidationError as error:
        return {_pointer(fault["loc"]): _said(fault) for fault in reversed(error.errors())}


def _said(fault: Mapping[str, Any]) -> str:
    """Return the message of a fault. For a fault of one segment, the message begins with the segment."""
    is_entry = len(fault["loc"]) > 1 and fault["loc"][0] == "segments"
    return f"'{fault['input']}' {reason_of(fault)}" if is_entry else reason_of(fault)


def fixed_fields(state: CampaignState) -> frozenset[str]:
    """Return the form fields that can't be changed in this state of a campaign."""
    fixed = fixed_keys(state)
    if state in UNSEEN:
        return fixed
    return fixed | {"panel", "training"} | {name for name, of in _PARTS.items() if of in fixed}


def _pointer(place: Sequence[int | str]) -> str:
    return "/" + "/".join(map(str, place))


def _field(pointer: str) -> str:
    """Return the form field for a JSON pointer; "" if the form has none.

    `/panel/parameter` belongs to the field `parameter`, `/segments/0` to the field `segments`.
    """
    if pointer.startswith("/gold/") and not pointer.endswith("/per_package"):
        return "gold"
    parts = [part for part in pointer.strip("/").split("/") if part]
    return next((part for part in (*reversed(parts[1:]), *parts[:1]) if part in FIELDS), "")
