import json
import math
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotthebot.bots.builtin_bots.domain.builders import build
from spotthebot.bots.builtin_bots.domain.contract import BuiltinModel
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.simulation.annotator import (
    BOT_BELOW,
    HUMAN_FROM,
    WEIGHTS,
    SimulatedAnnotation,
    SimulatedAnnotator,
    crowd,
    merit_of,
    scores_of,
)
from spotthebot.simulation.impressions import Impression, Segment, Speaker, impressions
from spotthebot.simulation.language import Language, stem, topics

CORPUS = (
    ("Is the soup salty?", "A potato takes the salt out.", "Then peel a potato for the soup."),
    ("The soup needs a potato.", "And no more salt, please.", "I like the soup a lot."),
    ("My tyre is flat.", "Take the pump, I like the pump a lot.", "The tyre has a hole."),
    ("A flat tyre again?", "Where is the pump?", "The hole is in the tyre."),
)
SAMPLE = Path(__file__).parents[2] / "services" / "spotthebot" / "local" / "sample" / "everyday.jsonl"


FEATURES = ("fluency", "sensibleness", "specificity")


def talk(*texts: str) -> Segment:
    speakers: tuple[Speaker, Speaker] = ("A", "B")
    return tuple((speakers[i % 2], text) for i, text in enumerate(texts))


def preferences(annotation: SimulatedAnnotation) -> dict[str, str]:
    return {feature: getattr(annotation, feature) for feature in FEATURES}


def careful(*, reliability: float = 1.0, leniency: float = 0.0) -> SimulatedAnnotator:
    """Return an annotator without noise or bias who answers every segment with care."""
    annotator = crowd(1, seed=1, dialogues=CORPUS)[0]
    return replace(annotator, reliability=reliability, noise=0.0, leniency=leniency)


def impression_of_b(*texts: str) -> Impression:
    return impressions(talk(*texts), Language(CORPUS))["B"]


class TestLanguage:
    def test_knows_word_runs_of_two_dialogues(self):
        """As runs of three words, with two edges before the sentence and one after it:

        "_ _ I", "_ I like", "I like the", "like the soup", "the soup a", "soup a lot", "a lot _".
        The second and the third dialogue share "I like the" and "a lot _": 2 of 7.
        """
        assert Language(CORPUS).usual_share(["I like the soup a lot."]) == pytest.approx(2 / 7)

    def test_takes_a_copied_turn_for_no_more_usual_than_a_new_one(self):
        assert Language(CORPUS[:1]).usual_share(CORPUS[0]) == 0

    def test_has_no_opinion_on_what_holds_no_words(self):
        assert Language(CORPUS).usual_share(["...", "\U0001f642"]) is None
        assert Language(CORPUS).relatedness("...", ["soup"]) is None

    def test_relates_words_by_their_normalised_mutual_information(self):
        """In 2 of 4 dialogues, always together: pmi = ln(2 * 4 / (2 * 2)) = ln 2, over -ln(2/4): 1; times 2/3."""
        assert Language(CORPUS).relatedness("tyre", topics("the flat one")) == pytest.approx(2 / 3)

    def test_relates_words_less_that_also_occur_apart(self):
        """Two more dialogues with "hole" alone: pmi = ln(2 * 6 / (2 * 4)) = ln 1.5, over -ln(2/6)."""
        wider = Language([*CORPUS, ("A hole.",), ("What a hole!",)])
        assert wider.relatedness("tyre", ["hol"]) == pytest.approx(2 / 3 * math.log(1.5) / math.log(3))

    def test_relates_a_copied_turn_as_if_its_dialogue_had_not_been_read(self):
        """Without the third dialogue, one of the other three has both: pmi = ln(3 / (1 * 1)), over -ln(1/3): 1.

        "My tyre is flat." has two topics, each the companion of the other; times 1/2 for one meeting.
        """
        assert Language(CORPUS).relatedness("My tyre is flat.", topics("tyre flat")) == pytest.approx(1 / 2)
        assert Language(CORPUS).relatedness("My flat tyre.", topics("tyre flat")) == pytest.approx(2 / 3)

    def test_does_not_take_an_echo_or_a_stranger_for_a_companion(self):
        assert Language(CORPUS).relatedness("tyre", topics("tyre")) == 0
        assert Language(CORPUS).relatedness("tyre", topics("soup")) == 0
        assert Language(CORPUS).relatedness("tyre", []) == 0

    def test_finds_a_word_the_rarer_the_fewer_turns_have_it(self):
        """Of 12 turns 4 have "tyre" (smoothed by one: ln(13 / 5) / ln 13), none "zebra"."""
        assert Language(CORPUS).rarity(stem("tyre")) == pytest.approx(math.log(13 / 5) / math.log(13))
        assert Language(CORPUS).rarity("zebra") == 1

    def test_finds_a_reply_apt_that_often_follows(self):
        """Six times "Tea?" "No." and six times "Tea." "So."; cues that both replies share cancel at 0.

        Those of the turn: asks or not, asks with "tea" (a question only). Those of the reply: two that
        differ (the small word itself and the first word) and five that do not: asks, at once, exclaims,
        counts, length. For "No." after "Tea?": met 6 times, 6 * 6 / 12 = 3 expected: ln(9 / 6).
        So 2 * 2 of 2 * 7 pairs are worth ln 1.5. After "Tea.": none met, 3 expected: ln(3 / 6) for 2 of 7.
        """
        language = Language([("Tea?", "No."), ("Tea.", "So.")] * 6)
        assert language.aptness("No.", "Tea?") == pytest.approx(4 / 14 * math.log(1.5))
        assert language.aptness("No.", "Tea.") == pytest.approx(2 / 7 * math.log(0.5))

    def test_can_have_read_nothing(self):
        nothing = Language([])
        assert nothing.usual_share(["hello"]) == 0
        assert nothing.rarity("hello") == 1
        assert nothing.aptness("hello", "hello") == 0

    @pytest.mark.parametrize("words", ["walk walks walked walking", "stop stops stopped stopping", "tomato tomatoes"])
    def test_takes_the_forms_of_a_word_for_one_topic(self, words: str):
        assert len(topics(words)) == 1


class TestImpressions:
    def test_notice_a_relevant_reply(self):
        relevant = impression_of_b("Is the soup salty?", "A potato helps.")
        beside_the_point = impression_of_b("Is the soup salty?", "The tyre is flat.")
        assert relevant.relevance > beside_the_point.relevance

    def test_notice_what_is_taken_up_and_not_what_is_taken_over(self):
        turns = ("I lost my brown hat on the ferry.", "Was it warm?")
        assert impression_of_b(*turns, "Very.", "They might keep lost hats at the harbour office.").cohesion > 0
        assert impression_of_b(*turns, "Very.", "They might keep dogs at the harbour office.").cohesion == 0
        assert impression_of_b(*turns, "Very.", "Lost my brown hat.").cohesion == 0

    def test_notice_an_abrupt_change_of_topic(self):
        assert impression_of_b("Is the soup salty?", "The tyre is flat.").abruptness == 1
        assert impression_of_b("Is the soup salty?", "A potato helps.").abruptness == 0
        assert impression_of_b("Is the zebra salty?", "The zebra is fine.").abruptness == 0
        assert impression_of_b("Is the soup salty?", "I don't know.").abruptness == 0

    def test_notice_questions_met_with_questions(self):
        assert impression_of_b("Soup?", "Salt?", "Salt?", "The potato.").evasion == 0.5
        assert impression_of_b("Soup.", "Salt?").evasion == 0

    def test_notice_a_he_or_she_of_whom_nobody_spoke(self):
        assert impression_of_b("The soup is salty.", "She's late.").dangling == 1
        assert impression_of_b("My sister's late.", "She's always late.").dangling == 0
        assert impression_of_b("My sister is late.", "He'd be later.").dangling == 1

    def test_notice_an_echo_even_with_persons_swapped(self):
        assert impression_of_b("I lost my brown hat.", "You lost your brown hat?").echo == 1
        assert impression_of_b("I lost my brown hat.", "Look under the sofa.").echo == 0

    def test_notice_repetition_of_own_turns_only(self):
        again = impression_of_b("Soup?", "I see.", "Salt?", "I see.")
        once = impression_of_b("I see.", "Soup?", "I see.", "Salt is in it.")
        assert (again.repetition, once.repetition) == (1, 0)

    def test_notice_turns_about_nothing(self):
        assert impression_of_b("Soup?", "I don't know.", "Salt?", "The potato.").emptiness == 0.5
        assert impression_of_b("Soup?", "I don't know.").specificity == 0

    def test_notice_a_sentence_that_breaks_off(self):
        assert impression_of_b("Soup?", "The soup and the").brokenness == 1
        assert impression_of_b("Soup?", "The soup and the salt").brokenness == 0

    def test_notice_what_nobody_says(self):
        usual = impression_of_b("Soup?", "I like the soup a lot.")
        jumbled = impression_of_b("Soup?", "Lot soup the a I like.")
        assert usual.fluency > jumbled.fluency

    def test_are_all_emptiness_for_a_silent_side(self):
        assert impressions((("A", "Hello?"),), Language(CORPUS))["B"].emptiness == 1

    def test_are_of_the_language_that_was_read(self):
        segment = talk(*CORPUS[0])
        fluencies = [impressions(segment, language)["B"].fluency for language in (Language(CORPUS), Language(()))]
        assert fluencies[0] > fluencies[1] == 0

    def test_are_all_shares_and_all_weighed(self):
        assert set(WEIGHTS) == set(vars(impression_of_b("a", "b")))

    @given(st.lists(st.tuples(st.sampled_from(["A", "B"]), st.text(max_size=60)), max_size=8))
    @settings(max_examples=80)
    def test_lie_between_0_and_1_for_any_text(self, turns: list[tuple[Speaker, str]]):
        for impression in impressions(tuple(turns), Language(CORPUS)).values():
            assert all(0 <= share <= 1 for share in vars(impression).values())


class TestAnnotate:
    SEGMENT = talk("Is the soup salty?", "I don't know.", "Peel a potato.", "I don't know.")

    def test_adds_the_weights_that_are_documented(self):
        """As in docs/simulated-annotators.md: 1.6, .8, .8, 1.2 and .2 for good, -.5 to -3 for bad."""
        good = Impression(0.5, 0.2, 0.4, 0.5, 1.0, 0, 0, 0, 0, 0, 0, 0)
        bad = Impression(0, 0, 0, 0, 0, 0.5, 0.2, 0.5, 1.0, 0.1, 0.3, 0.2)
        assert merit_of(good) == pytest.approx(0.8 + 0.16 + 0.32 + 0.6 + 0.2)
        assert merit_of(bad) == pytest.approx(-0.3 - 0.1 - 0.3 - 0.6 - 0.3 - 0.3 - 0.1)

    def test_adds_three_tenths_of_the_merit_of_the_partner(self):
        """2.08 and -2, from the test above: 2.08 - .6 and -2 + .624."""
        good = Impression(0.5, 0.2, 0.4, 0.5, 1.0, 0, 0, 0, 0, 0, 0, 0)
        bad = Impression(0, 0, 0, 0, 0, 0.5, 0.2, 0.5, 1.0, 0.1, 0.3, 0.2)
        assert scores_of({"A": good, "B": bad}) == pytest.approx({"A": 1.48, "B": -1.376})

    @pytest.mark.parametrize(
        ("shift", "label"), [(0.01, "human"), (-0.01, "unsure"), (BOT_BELOW - HUMAN_FROM - 0.01, "bot")]
    )
    def test_is_unsure_between_the_thresholds(self, shift: float, label: str):
        score = scores_of(impressions(self.SEGMENT, Language(CORPUS)))["B"]
        annotator = careful(leniency=HUMAN_FROM - score + shift)
        assert annotator.annotate(self.SEGMENT).label_b == label

    def test_does_not_care_which_side_is_which(self):
        other_side: dict[Speaker, Speaker] = {"A": "B", "B": "A"}
        mirrored = tuple((other_side[who], text) for who, text in self.SEGMENT)
        swapped = {"A": "B", "B": "A", "tie": "tie"}
        one, other = careful().annotate(self.SEGMENT), careful().annotate(mirrored)
        assert (one.label_a, one.label_b) == (other.label_b, other.label_a)
        assert preferences(one) == {feature: swapped[side] for feature, side in preferences(other).items()}
        assert "A" in preferences(one).values()

    def test_prefers_the_side_that_is_better_in_a_feature(self):
        annotation = careful().annotate(self.SEGMENT)
        assert annotation.specificity == annotation.sensibleness == "A"

    def test_prefers_neither_of_two_equal_sides(self):
        assert set(preferences(careful().annotate(())).values()) == {"tie"}

    @pytest.mark.parametrize(
        "segment",
        [
            (),
            (("B", "alone"),),
            talk("", " "),
            talk("\U0001f642", "\u05e9\u05dc\u05d5\u05dd", "?!"),
            talk("soup " * 2_000, "half a pair \ud83d"),
        ],
    )
    def test_annotates_any_segment(self, segment: Segment):
        for annotator in crowd(3, seed=5, dialogues=CORPUS):
            annotation = annotator.annotate(segment)
            assert {annotation.label_a, annotation.label_b} <= {"human", "bot", "unsure"}
            assert set(preferences(annotation).values()) <= {"A", "B", "tie"}
            assert annotation.elapsed_ms

    def test_does_not_depend_on_earlier_annotations(self):
        first, second = crowd(2, seed=5, dialogues=CORPUS)
        others = [talk(f"Soup {i}?", "Salt!") for i in range(20)]
        before = [first.annotate(segment) for segment in others]
        second.annotate(self.SEGMENT)
        assert [first.annotate(segment) for segment in reversed(others)] == before[::-1]

    def test_takes_longer_for_more_text(self):
        def median(segment: Segment) -> int:
            people = crowd(41, seed=5, dialogues=CORPUS)
            return sorted(replace(one, reliability=1.0).annotate(segment).elapsed_ms or 0 for one in people)[20]

        assert median(talk(*["the soup is too salty today"] * 40)) > median(talk("soup", "salt"))

    def test_throws_dice_without_reliability(self):
        """900 throws of three equally likely answers: 300 each, within 5 standard deviations of 14.1."""
        annotator = careful(reliability=0.0)
        counts = Counter(annotator.annotate(talk(f"Soup {i}", "Salt")).label_a for i in range(900))
        assert set(counts) == {"human", "bot", "unsure"}
        assert all(abs(count - 300) < 5 * math.sqrt(900 * 1 / 3 * 2 / 3) for count in counts.values())


class TestCrowd:
    def test_is_named_as_simulated(self):
        names = [annotator.name for annotator in crowd(12, seed=1, dialogues=CORPUS)]
        assert names[0] == "simulated-01"
        assert names[-1] == "simulated-12"

    def test_has_members_of_different_character(self):
        people = crowd(8, seed=1, dialogues=CORPUS)
        for trait in ("reliability", "noise", "leniency"):
            assert len({getattr(person, trait) for person in people}) == 8
        assert all(0.5 < person.reliability <= 1 for person in people)

    def test_grows_without_changing_who_is_there(self):
        few, many = crowd(3, seed=1, dialogues=CORPUS), crowd(9, seed=1, dialogues=CORPUS)
        segment = talk("Is the soup salty?", "A potato takes the salt out.")
        assert [one.annotate(segment) for one in few] == [one.annotate(segment) for one in many[:3]]

    def test_annotates_differently_with_another_seed(self):
        segments = [talk(f"Is soup {i} salty?", "A potato takes the salt out.") for i in range(10)]
        answers = {
            tuple(str(crowd(1, seed=seed, dialogues=CORPUS)[0].annotate(segment)) for segment in segments)
            for seed in range(5)
        }
        assert len(answers) == 5

    def test_annotates_alike_in_every_process(self):
        script = (
            "from spotthebot.simulation.annotator import crowd\n"
            f"for annotator in crowd(4, seed=2, dialogues={CORPUS!r}):\n"
            f"    print(annotator.annotate({TestAnnotate.SEGMENT!r}))\n"
        )
        outputs = {
            subprocess.run(
                [sys.executable, "-c", script],
                env={**os.environ, "PYTHONHASHSEED": hash_seed},
                capture_output=True,
                check=True,
            ).stdout
            for hash_seed in ("0", "1", "2")
        }
        assert len(outputs) == 1
        assert b"label_a=" in outputs.pop()


Labels = dict[str, Counter[str]]


@pytest.fixture(scope="module")
def labels() -> Labels:
    """Return how often each system got each label: all pairs of bots, and people with people.

    As in a campaign: the first exchange of a human dialogue is played on from, but not shown.
    """
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    train = [tuple(row["turns"]) for row in rows if row["split"] == "train"]
    openings = [tuple(row["turns"]) for row in rows if row["split"] == "openings"]
    shown = [("human", "human", dialogue[2:]) for dialogue in openings[1::2]]
    for seed in range(4):
        bots = {model: build(model, seed=seed, dialogues=train) for model in BuiltinModel}
        for p, pair in enumerate(combinations(BuiltinModel, 2)):
            for k in range(6):
                one, other = pair if k % 2 else pair[::-1]
                turns = openings[(2 * (5 * k + 3 * p + seed) + 1) % len(openings)][:2]
                for i in range(10):
                    turns += (bots[(one, other)[i % 2]].reply(Context(turns, k)),)
                shown.append((one.value, other.value, turns[2:]))
    people = crowd(6, seed=8, dialogues=train)
    labels: dict[str, Counter[str]] = {}
    for q, (first, second, turns) in enumerate(shown):
        for exchanges in (2, 3, 5):
            for annotator in (people[q % 6], people[(q + exchanges) % 6]):
                annotation = annotator.annotate(talk(*turns[: 2 * exchanges]))
                for system, label in ((first, annotation.label_a), (second, annotation.label_b)):
                    labels.setdefault(system, Counter())[label] += 1
    return labels


@pytest.mark.skipif(not SAMPLE.exists(), reason="the sample corpus is not in this checkout")
class TestOnTheSampleCorpus:
    """The order that the rule was made to give, on the openings that its weights were not chosen on."""

    @staticmethod
    def humanness(labels: Labels, system: str) -> float:
        counts = labels[system]
        return (counts["human"] + counts["unsure"] / 2) / counts.total()

    def test_labels_people_human_most_often(self, labels: Labels):
        rates = {system: counts["human"] / counts.total() for system, counts in labels.items()}
        human = rates.pop("human")
        assert 0.5 < human < 0.75
        assert human > max(rates.values()) + 0.1

    def test_ranks_the_bots_in_three_plainly_different_groups(self, labels: Labels):
        middle = [self.humanness(labels, system) for system in ("ngram", "eliza", "stray")]
        bottom = [self.humanness(labels, system) for system in ("parrot", "dull")]
        # Single sets of 90 conversations scatter by about 0.1; four together are asked for half of that.
        assert self.humanness(labels, "retrieval") > max(middle) + 0.1
        assert min(middle) > max(bottom) + 0.05

    def test_uses_every_label(self, labels: Labels):
        total = sum(labels.values(), Counter())
        assert all(total[label] > total.total() / 10 for label in ("human", "unsure", "bot"))
