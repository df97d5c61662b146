import pytest

from spotthebot.clients import Conflict, Forbidden, Invalid, NotFound
from spotthebot.contracts.fed.dimensions import DimensionIn, DimensionSetIn
from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from spotthebot.contracts.fed.scores import DialogueIn, DialogueTurn, ScoresIn
from spotthebot.fed.dialogues.domain.dialogues import Dialogue, Level, Turn
from spotthebot.fed.dimension_sets.domain.published_dimensions import FED_TURN
from spotthebot.fed.scores.domain.modes import ScoringRule
from spotthebot.inference.models.likelihood import kind as likelihood_kind
from spotthebot.local.scoring.dialogue_files import DialogueToScore, ReadDialogues
from spotthebot.local.scoring.run import ScoringOptions, score_dialogues
from tests.factories.lazy_imports import needs_models

pytestmark = needs_models

SAID = ("Did you water the tomatoes?", "Yes, before breakfast.", "They looked thirsty.", "I will do it again at noon.")


def dialogue(name="d", said=SAID, speakers=("ann", "bot")):
    turns = tuple(DialogueTurn(speaker=speakers[at % 2], text=text) for at, text in enumerate(said))
    return DialogueIn(id=name, turns=turns)


def asked(*dialogues, level="turn", **scorer):
    return ScoresIn(scorer=ScorerIn(**{"model": "gpt2", **scorer}), dialogues=dialogues, level=level)


BLUNT = DimensionIn(name="blunt", negative=("B.",))


class TestScores:
    async def test_scores_equal_those_of_the_command_without_a_service(self, suite, models_folder):
        fed = await suite.fed("admin")
        scored = await fed.score_dialogues(asked(dialogue(), dimension_set=DimensionSetRef(set="fed-turn")))
        assert scored.rejected == ()
        turns = tuple(Turn(speaker, text) for speaker, text in zip(("ann", "bot") * 2, SAID, strict=True))
        given = Dialogue("d", turns)
        read = ReadDialogues((DialogueToScore(1, given, given.ends(Level.TURN), {}),), ())
        options = ScoringOptions(FED_TURN.dimensions, ScoringRule())
        expected = score_dialogues(likelihood_kind.load(str(models_folder / "gpt2")), read, options, lambda _: None)
        assert [(each.turn, each.dimension) for each in scored.scores] == [
            (each.turn, each.score.dimension) for each in expected.scores
        ]
        for mine, its in zip(scored.scores, expected.scores, strict=True):
            assert mine.score == pytest.approx(its.score.score, abs=1e-5)
            assert mine.length_baseline == pytest.approx(its.baseline, abs=1e-5)

    async def test_bad_dialogues_are_rejected_and_the_others_are_scored(self, suite):
        fed = await suite.fed("admin")
        bad = [dialogue("empty", ()), dialogue("one", SAID[:1]), dialogue("long", ("bread " * 400, "Yes."))]
        scored = await fed.score_dialogues(asked(dialogue("good"), *bad, level="dialogue"))
        assert {each.id for each in scored.scores} == {"good"}
        reasons = {each.id: each.reason for each in scored.rejected}
        assert reasons["empty"] == "it has no turns"
        assert reasons["one"] == "it has one turn, which nobody answers"
        assert "over_long" in reasons["long"]

    async def test_a_long_dialogue_can_lose_its_oldest_turns(self, suite):
        fed = await suite.fed("admin")
        long = dialogue("long", ("bread " * 400, *SAID))
        scored = await fed.score_dialogues(asked(long, level="dialogue", over_long="truncate_oldest_turns"))
        assert {each.turns_left_out for each in scored.scores} == {1}

    async def test_scores_name_the_tokens_of_each_follow_up_on_request(self, suite):
        fed = await suite.fed("admin")
        request = asked(dialogue(), level="dialogue", mode="followup_sum").model_copy(update={"tokens": True})
        scored = await fed.score_dialogues(request)
        for each in scored.scores:
            for followup in each.followups:
                assert followup.value == pytest.approx(-sum(followup.token_log_probabilities or ()), abs=1e-4)

    @pytest.mark.parametrize(
        ("scorer", "error", "said"),
        [
            ({"model": "nowhere/at/all/here"}, Invalid, "can't be loaded"),
            ({"model": "/etc"}, Invalid, "below the models folder"),
            ({"model": "../outside"}, Invalid, "below the models folder"),
            ({"model": "bare"}, Invalid, "can't be loaded"),
            ({"model": "triton:gpt2"}, Conflict, "triton_servers"),
            ({"dimensions": ("kindness",)}, NotFound, "kindness"),
            ({"dimension_set": DimensionSetRef(set="mine")}, NotFound, "mine"),
            ({"polarity": "positives"}, Invalid, "relevant"),
        ],
    )
    async def test_a_scorer_that_cannot_be_used_is_refused_with_the_reason(self, suite, scorer, error, said):
        fed = await suite.fed("admin")
        with pytest.raises(error, match=said):
            await fed.score_dialogues(asked(dialogue(), **scorer))

    async def test_the_whole_sequence_is_refused_for_an_encoder_decoder(self, suite):
        fed = await suite.fed("admin")
        with pytest.raises(Invalid, match="followup_mean"):
            await fed.score_dialogues(asked(dialogue(), model="blenderbot"))
        scored = await fed.score_dialogues(asked(dialogue(), model="blenderbot", mode="followup_mean"))
        assert scored.rejected == ()

    async def test_scores_are_for_administrators_as_they_load_models(self, suite):
        fed = await suite.fed("analyst")
        with pytest.raises(Forbidden):
            await fed.score_dialogues(asked(dialogue()))


class TestDimensionSets:
    async def test_a_users_set_gets_a_version_for_each_change_and_is_scored(self, suite):
        fed = await suite.fed("admin")
        polite = DimensionIn(name="polite", positive=("How kind of you!",), negative=("Don't be so rude!",))
        first = await fed.create_dimension_set(DimensionSetIn(name="manners", dimensions=(polite,)))
        again = await fed.create_dimension_set(DimensionSetIn(name="manners", dimensions=(polite,)))
        changed = polite.model_copy(update={"negative": ("How rude!",)})
        second = await fed.create_dimension_set(DimensionSetIn(name="manners", dimensions=(changed,)))
        assert (first.version, again.version, second.version) == (1, 1, 2)
        assert [each.version async for each in fed.list_dimension_sets(name="manners")] == [1, 2]
        assert (await fed.get_dimension_set("manners", 1)).dimensions == (polite,)
        reference = DimensionSetRef(set="manners", version=2)
        scored = await fed.score_dialogues(asked(dialogue(), dimension_set=reference, mode="followup_mean"))
        assert {followup.text for each in scored.scores for followup in each.followups} == {
            "How kind of you!",
            "How rude!",
        }

    async def test_sets_that_are_built_in_keep_their_names(self, suite):
        fed = await suite.fed("admin")
        with pytest.raises(Conflict, match="built-in"):
            await fed.create_dimension_set(DimensionSetIn(name="fed", dimensions=(BLUNT,)))
        found = await fed.get_dimension_set("fed", 1)
        assert (found.origin, len(found.dimensions)) == ("built_in", 18)

    async def test_unusable_follow_ups_are_refused_with_the_reason(self, suite):
        fed = await suite.fed("admin")
        with pytest.raises(Invalid, match="occurs twice"):
            await fed.create_dimension_set(
                DimensionSetIn(name="odd", dimensions=(DimensionIn(name="a", negative=("B.", "B.")),))
            )
