from spotthebot.analytics.labels.domain import LABEL_CODES
from spotthebot.analytics.stats.annotations import LabelCode
from spotthebot.contracts.annotation.annotations import Label


class TestLabelCodes:
    def test_codes_every_label_once(self):
        assert set(LABEL_CODES) == set(Label)
        assert set(LABEL_CODES.values()) == set(LabelCode)

    def test_orders_the_labels_as_the_win_function_does(self):
        """Section 3.2 of Spot The Bot: human beats unsure, unsure beats bot."""
        assert LABEL_CODES[Label.BOT] < LABEL_CODES[Label.UNSURE] < LABEL_CODES[Label.HUMAN]

    def test_names_each_code_as_its_label(self):
        assert [LabelCode[label.name] for label in LABEL_CODES] == list(LABEL_CODES.values())
