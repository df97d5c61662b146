"""The dashboard of a campaign with another protocol than Spot The Bot has one part: its measures, headline first."""

from typing import Final

from spotthebot.contracts.analytics.measures import MeasureResult
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.web.claims.domain import Claim, measure_claim
from spotthebot.web.clients import Services
from spotthebot.web.results.pages.parts import Part
from spotthebot.web.results.pages.views import View

MEASURES: Final = "measures"


async def load_measures(services: Services, campaign: CampaignOut, view: View) -> Part:
    """Return the part with a campaign's measures, each with its bots; raises the errors of the services."""
    found = await (await services.analytics()).list_measures(campaign.id, **view.of_measures)
    estimates = {each.measure: _estimates(each) for each in found.measures}
    measured = {bot for own in estimates.values() for bot, estimate in own.items() if estimate is not None}
    headline = next(each for each in found.measures if each.measure == found.headline)
    content = {
        "campaign": campaign,
        "view": view,
        "name": MEASURES,
        "result": found,
        "speakers": {each.name: each for each in found.speakers},
        "compared": [each.name for each in found.speakers if each.name in measured],
        "claim": Claim(measure_claim(headline, 1 - found.significance_level), ()),
        "verdicts": None,
        "measures": [headline, *(each for each in found.measures if each is not headline)],
        "estimates": estimates,
    }
    return Part("results/parts/measures.html.jinja", content)


def _estimates(result: MeasureResult) -> dict[str, float | None]:
    return {each.bot: each.estimate for each in result.bots}
