"""Simulated annotators: stand-ins for people, with which a campaign can be tried from start to end.

They follow a written rule over the text of a segment, with noise and bias, and never learn who spoke. Their annotations
do not predict how people would label the same text. Results based on them are for demonstrations and tests, and must be
marked as simulated.
"""
