"""Trains judges on the labels of a campaign, and lets a trained judge answer about what it has not seen.

A judge has one model for each speaker of the campaign. This model has seen no conversation in which the speaker takes
part, and only this model judges the speaker's sides. A judge never learns who speaks: a file maps the shown texts of
the campaign to models. For other texts it has no answer. Torch is imported for networks only.
"""
