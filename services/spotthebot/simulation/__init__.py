"""Simulated annotators: a stand-in for people, so that a campaign can be tried from end to end.

They follow a written rule over the text of a segment, with noise and bias of their own, and never
learn who spoke. Their annotations say nothing about how people would label the same text: results
based on them are for demonstrations and tests and must be marked as simulated.
"""

from spotthebot.simulation.annotator import SimulatedAnnotator, crowd
from spotthebot.simulation.impressions import Impression, Segment, impressions
from spotthebot.simulation.language import Language

__all__ = [
    "Impression",
    "Language",
    "Segment",
    "SimulatedAnnotator",
    "crowd",
    "impressions",
]
