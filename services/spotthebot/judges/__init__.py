"""Judges: programs that label the items of a campaign with probabilities, through the task API as people do."""
