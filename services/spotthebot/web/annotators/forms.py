"""The form that erases an annotator."""

from spotthebot.contracts.terms import SubmittedTexts
from spotthebot.contracts.wire import Wire


class ErasureForm(Wire):
    """Whether an erasure also removes the annotator's texts from submitted annotations."""

    submitted_texts: SubmittedTexts = SubmittedTexts.ERASE
