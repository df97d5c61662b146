"""The ratings that people gave their chats, next to the fooling rates of a campaign over these chats."""

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_BOTS
from spotthebot.contracts.analytics.measures import MAX_MEASURES, MeasureResult
from spotthebot.contracts.analytics.partners import OrderCorrelation
from spotthebot.contracts.analytics.provenance import Provenance
from spotthebot.contracts.analytics.wins import FoolingRate


class RatedQuestion(MeasureResult):
    """A question that people answered after their chats, and how far it orders the bots as fooling rates do."""

    correlation: OrderCorrelation = Field(description="Of the bots' means and their fooling rates.")


class InteractorRatingsOut(Provenance):
    """Result of `/interactor-ratings`: what those who chatted said, next to what annotators said later."""

    rated: int = Field(description="Rated chats in the campaign's collections.")
    interactors: int = Field(description="People, and programs, who rated.")
    fooling_rates: tuple[FoolingRate, ...] = Field(max_length=MAX_BOTS)
    questions: tuple[RatedQuestion, ...] = Field(max_length=MAX_MEASURES, description="Questions with scores.")
