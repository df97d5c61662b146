"""An attempt is one try of an annotator at the training of their campaign."""
