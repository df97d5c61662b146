"""Protocols, which define the questions to annotators. Built-in protocols are shown in the annotator's language."""
