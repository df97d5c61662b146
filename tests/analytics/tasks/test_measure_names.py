"""What a study calls its measures."""

from spotthebot.analytics.tasks.domain import named_tasks


def _names(campaigns, chats=None):
    return [(each.task, [*each.measures.values()]) for each in named_tasks("abc", campaigns, chats)]


class TestNames:
    def test_are_bare_where_one_task_has_the_measure(self):
        assert _names([("abc.likert", ["quality"]), ("abc.facts", ["facts:yes"])]) == [
            ("likert", ["quality"]),
            ("facts", ["facts:yes"]),
        ]

    def test_begin_with_the_task_where_two_have_the_measure(self):
        assert _names([("abc.likert", ["quality", "kind"]), ("pairs", ["quality"])]) == [
            ("likert", ["likert.quality", "kind"]),
            ("pairs", ["pairs.quality"]),
        ]

    def test_stay_bare_for_ratings_of_chats(self):
        assert _names([("abc.likert", ["quality", "kind"])], ["quality", "preferred"]) == [
            ("likert", ["likert.quality", "kind"]),
            ("chats", ["quality", "preferred"]),
        ]

    def test_differ_where_two_campaigns_have_one_name(self):
        assert _names([("likert", ["quality"]), ("abc.likert", ["quality"]), ("chats", ["quality"])], ["quality"]) == [
            ("likert", ["likert.quality"]),
            ("likert-2", ["likert-2.quality"]),
            ("chats-2", ["chats-2.quality"]),
            ("chats", ["quality"]),
        ]

    def test_lose_no_more_than_the_name_of_the_study_and_a_dot(self):
        assert _names([("abcd.x", ["a"]), ("abc.", ["b"]), ("abc", ["c"])]) == [
            ("abcd.x", ["a"]),
            ("abc.", ["b"]),
            ("abc", ["c"]),
        ]
