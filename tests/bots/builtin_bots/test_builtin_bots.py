import math
import os
import statistics
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotthebot.bots.builtin_bots.domain.builders import ANSWERS, build
from spotthebot.bots.builtin_bots.domain.chance import chance_of
from spotthebot.bots.builtin_bots.domain.contract import BuiltinBot, BuiltinModel
from spotthebot.bots.builtin_bots.domain.eliza_rules import RULES
from spotthebot.bots.builtin_bots.domain.ngram import Trigrams
from spotthebot.bots.builtin_bots.domain.reflection import reflected
from spotthebot.bots.builtin_bots.domain.retrieval import BM25
from spotthebot.bots.builtin_bots.domain.words import sentences, words, words_and_marks
from spotthebot.bots.builtin_bots.errors import CorpusIsNeeded
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.kit.errors import Invalid

CORPUS = (
    ("Did you water the tomatoes?", "Yes, this morning before breakfast.", "Good. They looked thirsty."),
    ("My bike has a flat tyre.", "I can lend you my pump.", "That would be great, thank you."),
    ("What is for dinner tonight?", "I made lentil soup.", "I love lentil soup. Is there bread?"),
    ("The train to Geneva is late.", "By how much?", "Twenty minutes. Let us get a coffee."),
    ("I lost my keys again.", "Did you look under the sofa?", "They were there. You are a genius!"),
)
AWKWARD = {
    "nothing said yet": (),
    "an empty turn": ("",),
    "a blank turn": ("Hello.", " \n\t "),
    "emoji": ("\U0001f642\U0001f389", "\U0001f469\u200d\U0001f680 \u2764\ufe0f"),
    "right to left": ("\u05e9\u05dc\u05d5\u05dd, \u05de\u05d4 \u05e9\u05dc\u05d5\u05de\u05da?",),
    "Arabic": ("\u0645\u0631\u062d\u0628\u0627! \u0643\u064a\u0641 \u062d\u0627\u0644\u0643\u061f",),
    "only marks": ("?!... --- ,,,", "'"),
    "braces": ("I feel {0} and {rest} { }.",),
    "half a surrogate pair": ("broken \ud83d text",),
    "a very long turn": ("I feel like the train is late because " * 263,),
    "a very long word": ("a" * 10_000,),
    "500 turns": tuple(turn for dialogue in CORPUS for turn in dialogue[:2]) * 50,
}


def bot(model: BuiltinModel, seed: int = 7) -> BuiltinBot:
    return build(model, seed=seed, dialogues=CORPUS)


def answer(model: BuiltinModel, *turns: str, seed: int = 7, conversation: int = 1) -> str:
    return bot(model, seed).reply(Context(turns, conversation))


def utterances() -> set[str]:
    return {turn for dialogue in CORPUS for turn in dialogue}


@pytest.mark.parametrize("model", BuiltinModel)
class TestEveryBuiltinBot:
    @pytest.mark.parametrize("turns", AWKWARD.values(), ids=AWKWARD.keys())
    def test_always_has_something_to_say(self, model, turns):
        reply = bot(model).reply(Context(turns, 3))
        assert reply.strip()
        assert len(reply) < 1_000

    @given(turns=st.lists(st.text(max_size=80), max_size=6), seed=st.integers(0, 2**63 - 1))
    @settings(max_examples=60)
    def test_has_something_to_say_to_any_text(self, model, turns, seed):
        assert bot(model, seed % 5).reply(Context(tuple(turns), seed)).strip()

    def test_gives_the_same_reply_again_after_other_replies(self, model):
        first = bot(model)
        context = Context(("Hello.", "My bike has a flat tyre."), 5)
        reply = first.reply(context)
        first.reply(Context(("What is for dinner tonight?",), 6))
        assert first.reply(context) == reply == bot(model).reply(context)

    def test_depends_on_its_own_seed_and_on_the_seed_of_the_conversation(self, model):
        # Where the corpus has nothing like it, the seeds decide for retrieval too.
        turns = ("Zebra?",) if model is BuiltinModel.RETRIEVAL else ("I lost my keys again.",)
        assert len({answer(model, *turns, seed=seed) for seed in range(30)}) > 1
        assert len({answer(model, *turns, conversation=seed) for seed in range(30)}) > 1

    def test_takes_less_than_five_milliseconds_on_a_corpus_of_168_dialogues(self, model):
        many = [tuple(f"{turn} Number {i} of {i + k}." for k, turn in enumerate(CORPUS[i % 5] * 3)) for i in range(168)]
        tested = build(model, seed=1, dialogues=many)
        taken = []
        for i in range(40):
            started = time.thread_time()  # of the processor: others may use it, too
            tested.reply(Context(many[i][:7], i))
            taken.append(time.thread_time() - started)
        assert statistics.quantiles(taken)[0] < 0.005

    def test_says_whether_it_needs_a_corpus(self, model):
        if model.learns:
            with pytest.raises(CorpusIsNeeded, match=model) as raised:
                build(model, seed=1)
            assert isinstance(raised.value, Invalid)
            with pytest.raises(CorpusIsNeeded):
                build(model, seed=1, dialogues=[(), (" ",), ("", "\n")])
        else:
            assert build(model, seed=1).reply(Context((), 1))


def test_every_bot_replies_alike_in_every_process():
    script = (
        "from tests_corpus import CORPUS\n"
        "from spotthebot.bots.builtin_bots.domain.builders import BuiltinModel, build\n"
        "from spotthebot.bots.questions.domain.dialogue import Context\n"
        "for model in BuiltinModel:\n"
        "    bot = build(model, seed=2, dialogues=CORPUS)\n"
        "    for seed in range(20):\n"
        "        print(bot.reply(Context(('The soup is late.', 'Is there bread in Geneva?'), seed)))\n"
    ).replace("from tests_corpus import CORPUS", f"CORPUS = {CORPUS!r}")
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
    assert outputs.pop().count(b"\n") == 20 * len(BuiltinModel)


class TestRetrieval:
    def test_gives_the_answer_to_the_most_similar_utterance(self):
        assert answer(BuiltinModel.RETRIEVAL, "I have a flat tyre!") == "I can lend you my pump."

    def test_weighs_in_the_turn_before(self):
        corpus = (
            ("Shall we swim?", "Really?", "The lake is warm."),
            ("Shall we ski?", "Really?", "The snow is fresh."),
        )
        tested = build(BuiltinModel.RETRIEVAL, seed=1, dialogues=corpus)
        assert tested.reply(Context(("We could swim.", "Really?"), 1)) == "The lake is warm."
        assert tested.reply(Context(("We could ski.", "Really?"), 1)) == "The snow is fresh."

    def test_does_not_repeat_either_speaker(self):
        turns = ("i can lend you my pump", "Fine.", "I have a flat tyre!")
        assert answer(BuiltinModel.RETRIEVAL, *turns) != "I can lend you my pump."

    def test_repeats_itself_once_everything_was_said(self):
        said = tuple(turn for dialogue in CORPUS for turn in dialogue)
        assert answer(BuiltinModel.RETRIEVAL, *said) in utterances()

    def test_opens_as_a_dialogue_of_the_corpus_opens(self):
        assert answer(BuiltinModel.RETRIEVAL) in {dialogue[0] for dialogue in CORPUS}

    def test_needs_a_turn_that_was_answered(self):
        with pytest.raises(CorpusIsNeeded):
            build(BuiltinModel.RETRIEVAL, seed=1, dialogues=[("Hello?",), ("Anybody?", " ")])

    def test_bm25_follows_its_definition(self):
        """Robertson & Zaragoza (2009), equation 3.15, written out for k1 = 1.2 and b = 0.75.

        Two documents of 2 and 4 words, so a mean of 3. "soup" is in one of them, twice:
        IDF = ln(1 + (2 - 1 + .5) / (1 + .5)) = ln 2; "the" is in both: ln(1 + .5 / 2.5) = ln 1.2.
        """
        index = BM25([["the", "train"], ["the", "soup", "soup", "bowl"]])
        soup = math.log(2) * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 3))
        the = math.log(1.2) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 4 / 3))
        the_in_the_short_one = math.log(1.2) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3))
        scores = index.scores(["the", "soup", "soup", "unknown"])
        assert scores == {0: pytest.approx(the_in_the_short_one), 1: pytest.approx(the + soup)}


class TestNgram:
    def test_speaks_in_words_of_the_corpus_and_ends_its_sentence(self):
        known = {word for turn in utterances() for word in words(turn)}
        for seed in range(50):
            reply = answer(BuiltinModel.NGRAM, "Is it late?", conversation=seed)
            assert set(words(reply)) <= known
            assert reply[-1] in ".!?"
            assert reply[0].isupper()

    def test_takes_up_a_content_word_of_the_last_turn(self):
        for seed in range(20):
            reply = answer(BuiltinModel.NGRAM, "What about the Geneva?", conversation=seed)
            assert "Geneva" in reply

    def test_stops_although_its_corpus_loops(self):
        tested = build(BuiltinModel.NGRAM, seed=1, dialogues=[("round and round and round " * 500,)])
        for seed in range(20):
            assert len(tested.reply(Context(("round?",), seed)).split()) <= 40

    def test_never_begins_with_a_mark_where_its_limit_cuts_a_sentence(self):
        # Backwards from "zebra" every second token is a comma, the one at the (even) limit among them.
        tested = build(BuiltinModel.NGRAM, seed=1, dialogues=[("a, " * 40 + "a zebra.",)])
        for seed in range(20):
            assert tested.reply(Context(("zebra?",), seed))[0].isalpha()

    def test_backs_off_as_witten_and_bell_say(self):
        """After "a b" only c was seen, once: 1/2 for c at once and 1/2 for what follows b anywhere.

        There c has 1 of 3, so P(c) = 1/2 + 1/2 * 1/3 = 2/3; the bounds are 5 standard errors of 4000 draws.
        """
        model = Trigrams(["abc", "xbd", "xbd"])
        chance = chance_of("back-off")
        share = sum(model.grow(("a", "b"), chance)[0] == "c" for _ in range(4_000)) / 4_000
        assert share == pytest.approx(2 / 3, abs=5 * math.sqrt(2 / 9 / 4_000))


class TestEliza:
    def test_has_at_least_25_rules_with_two_to_four_answers_each(self):
        assert len(RULES) >= 25
        assert all(2 <= len(rule.answers) <= 4 for rule in RULES)

    @pytest.mark.parametrize(
        ("said", "taken_up"),
        [
            ("I feel lost without my dog.", "lost without your dog"),
            ("You are always late!", "I am always late"),
            ("My boss called, and I want to leave you.", "to leave me"),
        ],
    )
    def test_takes_up_what_was_said_with_the_persons_swapped(self, said, taken_up):
        replies = {answer(BuiltinModel.ELIZA, said, conversation=seed) for seed in range(40)}
        assert any(taken_up in reply for reply in replies)

    def test_reads_text_as_a_corpus_tokenises_it(self):
        typed = answer(BuiltinModel.ELIZA, "I don't like soup.")
        assert answer(BuiltinModel.ELIZA, "i do n't like soup .").casefold() == typed.casefold()

    def test_finds_another_answer_while_there_is_one(self):
        turns: list[str] = []
        for _ in range(4):
            turns += ["I am sad.", answer(BuiltinModel.ELIZA, *turns, "I am sad.")]
        assert len(set(turns[1::2])) == 4  # the rule for sadness has four answers

    def test_asks_a_person_to_go_on_when_no_rule_fits(self):
        for rule in RULES:
            assert not rule.pattern.search("Tomatoes, tomatoes.")
        assert answer(BuiltinModel.ELIZA, "Tomatoes, tomatoes.")


class TestParrot:
    def test_repeats_the_last_sentence(self):
        reply = answer(BuiltinModel.PARROT, "Well. I lost my keys again.")
        assert "ou lost your keys again" in reply
        assert "Well" not in reply


class TestStray:
    def test_says_anything_that_was_not_said_yet(self):
        said = sorted(utterances())[:-1]
        assert {answer(BuiltinModel.STRAY, *said)} == utterances() - set(said)


class TestDull:
    def test_has_a_few_answers_to_everything(self):
        replies = [answer(BuiltinModel.DULL, f"Question {i}?") for i in range(100)]
        assert set(replies) <= set(ANSWERS)
        assert max(map(replies.count, ANSWERS)) == replies.count("I don't know.")


class TestReflection:
    @pytest.mark.parametrize(
        ("said", "turned"),
        [
            ("I am tired of my job", "you are tired of your job"),
            ("you are late", "I am late"),
            ("are you sure", "am I sure"),
            ("I believe you", "you believe me"),
            ("you told me about yourself", "I told you about myself"),
            ("tell you something", "tell me something"),
            ("nothing to swap here", "nothing to swap here"),
            ("", ""),
        ],
    )
    def test_swaps_first_and_second_person(self, said, turned):
        assert reflected(said.split()) == turned


class TestWords:
    def test_rejoins_tokenised_words(self):
        assert words("I do n't know , he 's late .") == ["i", "don't", "know", "he's", "late"]

    def test_reads_typographic_apostrophes(self):
        assert words("I don\u2019t") == ["i", "don't"]

    def test_keeps_case_and_marks_when_asked(self):
        assert words_and_marks("Oh, Anna!") == ["Oh", ",", "Anna", "!"]

    def test_cuts_sentences_after_their_marks(self):
        assert sentences("Really? Yes! I am.\nSure") == ["Really?", "Yes!", "I am.", "Sure"]
