"""Trains the pool of bots of Deriu et al. (2020, "Spot The Bot", section 4 and appendix) on any corpus of dialogues.

A training writes a directory that `inference.models.dialogue.kind.load` reads. Torch is imported when a training
begins, not before.
"""
