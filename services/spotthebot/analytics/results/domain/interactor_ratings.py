"""The ratings of those who chatted, next to the fooling rates by those who annotated the chats."""

import numpy as np

from spotthebot.analytics.chats.domain import RatedChats
from spotthebot.analytics.labels.domain import LabelledCampaign, repeated_texts, take_sample
from spotthebot.analytics.labels.errors import nothing_kept
from spotthebot.analytics.measures.domain.measure_results import measure_result
from spotthebot.analytics.provenance.domain import Parameters, provenance_of
from spotthebot.analytics.results.domain.wins import fooling_rates
from spotthebot.analytics.results.errors import ChatsNotRated
from spotthebot.analytics.speakers.domain import speakers_of
from spotthebot.contracts.analytics.interactor_ratings import InteractorRatingsOut, RatedQuestion
from spotthebot.contracts.analytics.partners import OrderCorrelation
from spotthebot.statistics.rank_correlation import rank_correlation


def interactor_ratings(campaign: LabelledCampaign, chats: RatedChats, request: Parameters) -> InteractorRatingsOut:
    """Return each question's means of all bots, and its rank correlation with fooling rates.

    Preferences between two chats are left out. Raises NothingToAnalyse and ChatsNotRated.
    """
    names = [name for name, measure in chats.measures.items() if measure.kind == "scale"]
    if not chats.ratings or not names:
        raise ChatsNotRated(campaign=campaign.campaign)
    sample = take_sample(campaign, request.filter)
    if not sample.counts.annotations:
        raise nothing_kept(request.filter, len(campaign.annotations))
    rates = fooling_rates(sample, request)
    by_bot = {each.bot: each.rate for each in rates}
    questions = []
    for name in names:
        found = measure_result(chats.values(name), request)
        both = [each for each in found.bots if each.bot in by_bot]
        means, fooled = ([each.estimate for each in both], [by_bot[each.bot] for each in both])
        columns = np.array([means, fooled], dtype=np.float64)
        correlation = rank_correlation(*columns, confidence_level=request.confidence_level)
        questions.append(RatedQuestion(**found.model_dump(), correlation=OrderCorrelation.of(correlation)))
    return InteractorRatingsOut(
        **provenance_of(
            campaign,
            request,
            counts=sample.counts,
            repeated_texts=repeated_texts(sample.table),
            speakers=speakers_of(sample, request.filter),
            data_sha256=sample.sha256,
        ),
        rated=len(chats.ratings),
        interactors=chats.counts.annotators,
        fooling_rates=rates,
        questions=tuple(questions),
    )
