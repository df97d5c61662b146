"""Simulated annotators: a stand-in for people, so that a campaign can be tried from end to end.

They judge by a written-down rule over the text of a segment, with noise and bias of their own, and
never learn who spoke. Their verdicts say nothing about how people would judge: results based on them
are for demonstrations and tests and must be labelled as simulated.
"""

from spotthebot.suite.simulation.annotator import Judgement, SimulatedAnnotator, crowd
from spotthebot.suite.simulation.impressions import Impression, Segment, impressions
from spotthebot.suite.simulation.language import Language

__all__ = [
    "Impression",
    "Judgement",
    "Language",
    "Segment",
    "SimulatedAnnotator",
    "crowd",
    "impressions",
]
