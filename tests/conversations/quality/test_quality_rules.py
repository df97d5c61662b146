"""What texts say, held against second implementations: all pairs by exact Jaccard, sets of pairs of sentences."""

import json
import random
from itertools import pairwise

import numpy as np
import pytest

from spotthebot.conversations.quality.domain.duplicates import NEAR, near_duplicates, shingles, signature
from spotthebot.conversations.quality.domain.flags import PersonalDataKind
from spotthebot.conversations.quality.domain.language import language_of
from spotthebot.conversations.quality.domain.personal_data import personal_data
from spotthebot.conversations.quality.domain.profanity import profane_turns
from spotthebot.conversations.quality.domain.training_overlap import TrainingExchanges
from spotthebot.conversations.texts.domain import exchange_hashes
from spotthebot.kit.text.words import text_hash
from spotthebot.local.sample import sample_dialogues
from tests.factories.published_dump import SHARED

SAMPLE = [tuple(each["turns"]) for each in sample_dialogues()]


def _signatures(texts):
    return np.array([np.frombuffer(signature(turns), dtype=np.uint32) for turns in texts])


def _jaccard(one, other):
    return len(shingles(one) & shingles(other)) / len(shingles(one) | shingles(other))


def _changed(turns, places):
    return tuple("We painted that wall green again." if place in places else turn for place, turn in enumerate(turns))


class TestExactDuplicates:
    def test_ignore_case_spacing_and_punctuation(self):
        assert text_hash(["I'm fine, thanks.", "Good!"]) == text_hash(["i ' m fine , thanks", "GOOD"])

    def test_differ_in_words_or_in_turns_otherwise(self):
        assert text_hash(["a b", "c"]) != text_hash(["a b", "d"])
        assert text_hash(["a b", "c"]) != text_hash(["a", "b c"])


class TestNearDuplicates:
    def test_have_all_runs_of_three_words_as_shingles(self):
        assert shingles(["One two", "three, four."]) == {"one two three", "two three four"}
        assert shingles(["Hi."]) == {"hi"}

    def test_have_estimates_around_the_exact_jaccard_similarity(self):
        """Their error is that of a share of 128 draws: without bias, sd at most sqrt(J (1 - J) / 128) <= 0.044."""
        chance = random.Random(1)
        one = [chance.choice(SAMPLE) for _ in range(400)]
        other = [_changed(turns, {chance.randrange(12) for _ in range(chance.randrange(12))}) for turns in one]
        estimated = np.mean(_signatures(one) == _signatures(other), axis=1)
        errors = estimated - np.array([_jaccard(*pair) for pair in zip(one, other, strict=True)])
        assert abs(errors.mean()) < 3 * 0.044 / 20
        assert errors.std() < 0.044

    def test_include_a_conversation_with_one_of_twelve_turns_changed(self):
        texts = [*SAMPLE, _changed(SAMPLE[5], {3}), _changed(SAMPLE[7], {0, 2, 4, 6, 8, 10})]
        resembled, similarity = near_duplicates(_signatures(texts))
        assert resembled[-2] == 5
        assert similarity[-2] == pytest.approx(_jaccard(texts[-2], texts[5]), abs=3 * 0.044)
        assert resembled[-1] == -1
        assert _jaccard(texts[-1], texts[7]) < NEAR

    def test_point_each_copy_to_the_first(self):
        resembled, similarity = near_duplicates(_signatures([SAMPLE[0], SAMPLE[1], *[SAMPLE[0]] * 300]))
        assert resembled.tolist() == [-1, -1] + [0] * 300
        assert set(similarity[2:]) == {1.0}

    def test_are_none_among_no_conversations(self):
        resembled, _ = near_duplicates(np.empty((0, 128), dtype=np.uint32))
        assert len(resembled) == 0

    def test_are_those_that_comparing_all_pairs_finds(self):
        """Of the published dump's conversations: of those whose best earlier partner is clearly above, all."""
        file = SHARED / "data" / "spot-the-bot" / "sampled-dialogues-full-dailydialog.json"
        if not file.is_file():
            pytest.skip("the published conversations ../shared/data/spot-the-bot are not here")
        texts = [tuple(turn["text"] for turn in json.loads(line)["convo"]) for line in file.read_text().splitlines()]
        cut = [shingles(turns) for turns in texts]
        best = [max((len(a & b) / len(a | b) for b in cut[:place]), default=0) for place, a in enumerate(cut)]
        resembled, _ = near_duplicates(_signatures(texts))
        clear = [place for place, similarity in enumerate(best) if abs(similarity - NEAR) > 0.1]
        assert sum(best[place] > NEAR for place in clear) >= 10
        assert [place for place in clear if (best[place] > NEAR) != (resembled[place] >= 0)] == []


class TestTrainingOverlap:
    def test_counts_the_exchanges_that_a_set_of_pairs_of_sentences_counts(self):
        training, said = SAMPLE[:100], [*SAMPLE[90:], _changed(SAMPLE[3], {4})]
        known = TrainingExchanges()
        known.add(training[:50])
        known.add(training[50:])
        known.sort()
        pairs = {pair for turns in training for pair in pairwise(turns)}
        expected = [sum(pair in pairs for pair in pairwise(turns)) for turns in said]
        assert known.count([exchange_hashes(turns) for turns in said]) == expected
        assert expected[:11] == [len(turns) - 1 for turns in SAMPLE[90:100]] + [0]
        assert expected[-1] == len(SAMPLE[3]) - 1 - 2  # two of its pairs have the changed turn

    def test_does_not_count_another_answer_to_a_known_utterance(self):
        known = TrainingExchanges()
        known.add([["How are you?", "Fine.", "Good."]])
        known.sort()
        assert known.count([exchange_hashes(["how are you", "FINE !"]), exchange_hashes(["Fine.", "Fine."])]) == [1, 0]

    def test_counts_no_exchange_in_a_conversation_of_one_turn(self):
        known = TrainingExchanges()
        known.sort()
        assert known.count([exchange_hashes(["alone"]), b""]) == [0, 0]


class TestLanguage:
    def test_is_recognised_in_texts_of_enough_words(self):
        texts = (
            ("en", SAMPLE[0]),
            ("de", ("Wie war die Prüfung heute Morgen?", "Lang, aber ich bin fertig geworden.")),
            ("es", ("¿Cómo estuvo el examen de esta mañana?", "Largo, pero pude terminarlo a tiempo.")),
        )
        for code, turns in texts:
            found = language_of(turns)
            assert found is not None
            assert found[0] == code

    def test_is_recognised_in_scripts_without_spaces(self):
        texts = (
            ("ja", ("今朝の試験はどうでしたか。", "長かったけれど、終わりました。")),
            ("zh", ("今天早上的考试怎么样。", "很长。不过我考完了。")),
            ("th", ("เมื่อเช้าสอบเป็นอย่างไรบ้าง", "นานมาก แต่ก็ทำเสร็จแล้ว")),
        )
        for code, turns in texts:
            found = language_of(turns)
            assert found is not None
            assert found[0] == code
        assert language_of(("はい。", "はい、はい。")) is None

    def test_is_unknown_for_too_few_words(self):
        assert language_of(("Goodbye.", "goodbye", "Goodbye!")) is None


class TestFlags:
    def test_give_the_positions_of_profane_turns(self):
        turns = ("You idiot, what the fuck?", "He lives in Scunthorpe, in a class of his own.", "Sh!t happens, shit.")
        assert profane_turns(turns) == (0, 2)
        assert [turns for turns in SAMPLE if profane_turns(turns)] == []

    @pytest.mark.parametrize(
        ("turn", "kinds"),
        [
            ("Write to joe.doe@example.org!", {PersonalDataKind.EMAIL}),
            ("I'm at +41 44 668 18 00, or (415) 555-2671.", {PersonalDataKind.PHONE}),
            ("My card is 4111 1111 1111 1111.", {PersonalDataKind.CREDIT_CARD}),
            ("Send it to GB29NWBK60161331926819.", {PersonalDataKind.IBAN}),
            ("Send it to GB29 NWBK 6016 1331 9268 19, please.", {PersonalDataKind.IBAN}),
            ("It is DE89 3704 0044 0532 0130 00 at my bank.", {PersonalDataKind.IBAN}),
            ("iban: fr14 2004 1010 0505 0001 3m02 606 ok", {PersonalDataKind.IBAN}),
            ("NO93-8601-1117-947", {PersonalDataKind.IBAN}),
            ("CH93\u00a00076\u00a02011\u00a06238\u00a05295\u00a07", {PersonalDataKind.IBAN}),
            ("It is GB28 NWBK 6016 1331 9268 19, with a wrong check digit.", set()),
            ("It is GB29 NWBK 6016 1331 9268, one group short.", set()),
            ("The server is 192.168.0.1.", {PersonalDataKind.IP_ADDRESS}),
            ("Ping 8.8.8.8 with version 1.2.3.4 of it.", {PersonalDataKind.IP_ADDRESS}),
            ("I have version 1.2.3.4 installed.", set()),
            ("Release: 10.4.0.2, then v. 2.0.1.3, and Section 3.1.4.2.", set()),
            ("We updated from build 1.2.3.4.5.", set()),
            ("My number is 123-45-6789.", {PersonalDataKind.SOCIAL_SECURITY_NUMBER}),
            ("At 7:30 on 24/12/2020, for 300000 dollars, in room 1204.", set()),
            ("Card 4434 1234 5678 9903 fails its check digit.", set()),
            ("@home", set()),
        ],
    )
    def test_give_the_kinds_of_personal_data(self, turn, kinds):
        assert personal_data(["Nothing here.", turn]) == tuple((1, kind) for kind in sorted(kinds))
