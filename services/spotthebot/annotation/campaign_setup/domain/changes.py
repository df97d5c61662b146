"""The rules for changing a campaign: which keys may change, and until when.

A draft may change to any other draft, because nobody has seen it. Once annotators work on a campaign, three parts stay,
because they make labels comparable: the questions, the items shown, and the training that annotators passed. Other keys
may change, and amounts of remaining work may grow.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from spotthebot.annotation.campaign_setup.errors import ChangeRefused
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.campaigns.errors import CampaignNotBuilt
from spotthebot.contracts.annotation.campaign_changes import CHANGEABLE, FIXED, UNSEEN, fixed_keys
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignState
from spotthebot.kit.errors import FieldError

PACKED: Final = frozenset(
    {
        *("protocol", "protocol_version", "segments", "package_size", "collections", "human_share", "pairs"),
        *("units_twice", "seed", "gold"),
    }
)
"""The keys that determine packages: if one changes in a draft, its packages are made again."""


def changed_keys(campaign: Campaign, after: CampaignIn) -> frozenset[str]:
    """Return the keys with different values; `after` states the versions of its protocol, training and gold."""
    return frozenset(name for name in CHANGEABLE if getattr(campaign, name) != getattr(after, name))


def require_changeable(campaign: Campaign, after: CampaignIn) -> None:
    """Raise ChangeRefused with each key that may not change now, or CampaignNotBuilt while packages are made."""
    keys = changed_keys(campaign, after)
    if keys and campaign.state is CampaignState.BUILDING:
        raise CampaignNotBuilt(name=campaign.name)
    faults = [FieldError(f"/{name}", why) for name in sorted(keys) if (why := _why_not(name, campaign, after))]
    if faults:
        raise ChangeRefused(name=campaign.name, state=campaign.state, fields=tuple(faults))


def _why_not(name: str, campaign: Campaign, after: CampaignIn) -> str | None:
    if name in fixed_keys(campaign.state):
        if campaign.state is CampaignState.CLOSED:
            return "can't change: the campaign was closed for good"
        return f"can't change{'' if name == 'mode' else ' once a campaign was opened'}: {FIXED[name]}"
    if campaign.state in UNSEEN:
        has_uploads = campaign.mode == "uploaded" and campaign.progress.packages and name in PACKED
        return "can't change: packages were uploaded for it; delete the draft, make another" if has_uploads else None
    rule = _RULES.get(name)
    return rule(campaign, after) if rule else None


def _overlap(campaign: Campaign, after: CampaignIn) -> str | None:
    if after.annotations_per_segment < campaign.annotations_per_segment:
        return f"can only grow from {campaign.annotations_per_segment}: annotators have begun on as many"
    return _is_released(campaign)


def _collections(campaign: Campaign, after: CampaignIn) -> str | None:
    if after.collection_ids[: len(campaign.collections)] != campaign.collections:
        return "can only grow: name those that it has first, in their order, then more; their packages are given out"
    if campaign.human_share is not None:
        return "can't grow: human_share was drawn over those that it has; make another campaign"
    if campaign.units_twice is not None:
        return "can't grow: units_twice were drawn from those that it has; make another campaign"
    if campaign.mode == "uploaded":
        return "can't grow: packages are uploaded to a draft alone, so nothing would show them"
    return _is_released(campaign)


def _is_released(campaign: Campaign) -> str | None:
    """Return why a campaign can't grow if its results are released; None if they are not.

    Otherwise a reader of the ranking could influence the ranking by adding work.
    """
    if campaign.takes_claims and campaign.released_at is not None:
        return "can't grow: its results are released; withdraw them first"
    return None


def _panel(campaign: Campaign, after: CampaignIn) -> str | None:
    there, here = (each.panel.kind if each.panel else "none" for each in (campaign, after))
    return None if there == here else f"can't become {here}: annotators have ids of {there}, and come back by them"


def _training(campaign: Campaign, after: CampaignIn) -> str | None:
    there, here = campaign.training, after.training
    if there and here and (there.name, there.version) == (here.name, here.version) and here.attempts > there.attempts:
        return None
    return "can't change once a campaign was opened, but for more attempts: all annotators pass the same training"


def _pay(campaign: Campaign, after: CampaignIn) -> str | None:
    if campaign.progress.submitted:
        return "can't change: packages were submitted for it; grant bonuses instead"
    if campaign.pay_per_package is None:
        return None
    if after.pay_per_package is None or after.pay_per_package < campaign.pay_per_package:
        return f"can only grow from {campaign.pay_per_package}: annotators were promised it"
    return None if after.currency == campaign.currency else "can't change: annotators were promised this currency"


_RULES: Final[Mapping[str, Callable[[Campaign, CampaignIn], str | None]]] = MappingProxyType(
    {
        "annotations_per_segment": _overlap,
        "collections": _collections,
        "panel": _panel,
        "training": _training,
        "pay_per_package": _pay,
        "currency": _pay,
    }
)
