"""The form of a new campaign, sent as it opens, asks for the campaign that the API makes without any setting."""

from uuid import UUID

from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignSettings
from spotthebot.web.domain.campaign_forms import DEFAULTS, CampaignForm

COLLECTION = UUID(int=1)


def test_form_as_it_opens_has_the_defaults_of_the_api():
    form = CampaignForm.sent({**DEFAULTS, "name": "new"}, [str(COLLECTION)])
    read = form.read({str(COLLECTION): "everyday"})
    assert isinstance(read, CampaignIn)
    expected = CampaignIn(name="new", domain="everyday", collections=(COLLECTION,))
    names = [*CampaignSettings.model_fields, "protocol"]
    assert {name: getattr(read, name) for name in names} == {name: getattr(expected, name) for name in names}
