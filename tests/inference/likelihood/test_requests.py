import pytest

from spotthebot.inference.models.likelihood.requests import JoinSettings, LikelihoodRequest

SOUND = {"turns": ["Hello!"], "followups": ["Hi!"]}


class TestLikelihoodRequest:
    def test_reads_what_it_wrote(self):
        request = LikelihoodRequest(
            turns=("Hello!", "Hi!"),
            followups=("What?", "Tell me more!"),
            ends=(1, 2),
            join=JoinSettings("text", start="> ", separator="\n> "),
            over_long="truncate_oldest_turns",
            context_likelihood=True,
            tokens=True,
        )
        assert LikelihoodRequest.from_json(request.to_json()) == request

    def test_scores_after_the_last_turn_where_no_end_is_named(self):
        assert LikelihoodRequest.from_json({**SOUND, "turns": ["a", "b", "c"]}).ends == (3,)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"turns": []}, "turns must be a list of texts, at least one"),
            ({"turns": None}, "turns must be"),
            ({"turns": "Hello!"}, "turns must be"),
            ({"turns": [1]}, "turns must be"),
            ({"followups": []}, "followups must be a list of 1 to 1024 texts that are not empty"),
            ({"followups": [" "]}, "followups must be"),
            ({"followups": ["a"] * 1025}, "followups must be"),
            ({"ends": [0]}, "ends must be different numbers of turns, 1 to all"),
            ({"ends": [2]}, "ends must be"),
            ({"ends": [1, 1]}, "ends must be"),
            ({"ends": [True]}, "ends must be"),
            ({"ends": 1}, "ends must be"),
            ({"over_long": "cut"}, "over_long must be one of error, truncate_oldest_turns"),
            ({"context_likelihood": 1}, "context_likelihood must be true or false"),
            ({"tokens": "yes"}, "tokens must be true or false"),
            ({"join": "fed"}, "join must be an object"),
            ({"join": {}}, "join.form must be one of fed"),
            ({"join": {"form": "none"}}, "join.form must be one of fed"),
            ({"join": {"form": "fed", "space_before_end": 1}}, "join.space_before_end must be true or false"),
            ({"join": {"form": "text", "start": 1}}, "join.start must be a text"),
            ({"join": {"form": "fed", "spaces": 1}}, "unknown fields: spaces"),
            ({"turn": []}, "unknown fields: turn"),
        ],
    )
    def test_refuses_what_is_out_of_range(self, wrong, message):
        with pytest.raises(ValueError, match=message):
            LikelihoodRequest.from_json({**SOUND, **wrong})
