"""What administrators can do with a campaign follows from its state."""

from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.web.campaigns.domain import campaign_actions


class _Campaign:
    def __init__(self, state: CampaignState, released_at: object = None, published_at: object = None) -> None:
        self.state, self.released_at, self.published_at = state, released_at, published_at


def test_campaigns_can_do_what_their_state_allows():
    found = {state: campaign_actions(_Campaign(state)) for state in CampaignState}  # type: ignore[arg-type]
    assert found[CampaignState.DRAFT] == ("open", "close", "delete")
    assert found[CampaignState.OPEN] == ("pause", "close")
    assert found[CampaignState.COMPLETE] == found[CampaignState.CLOSED] == ("release", "publish")
    assert found[CampaignState.FAILED] == ("delete",)
    released = _Campaign(CampaignState.CLOSED, "now")
    assert campaign_actions(released) == ("publish", "withdraw")  # type: ignore[arg-type]
    released.published_at = "now"
    assert campaign_actions(released) == ("withdraw",)  # type: ignore[arg-type]
