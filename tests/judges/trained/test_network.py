import json
from dataclasses import asdict, replace
from datetime import date
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.judges.trained.card import CARD
from spotthebot.judges.trained.errors import ModelUnusable
from spotthebot.judges.trained.folds import counts_of, shown_of
from spotthebot.judges.trained.judge import TrainedJudge
from spotthebot.judges.trained.options import NetworkOptions, OptionOutOfRange
from spotthebot.judges.trained.scores import BRIER, LOG_LOSS, NETWORK, TEXT_FEATURES, Gain, Scores
from spotthebot.judges.trained.train import train_judge
from tests.factories.judge_units import units
from tests.factories.known import known
from tests.factories.lazy_imports import lazily
from tests.factories.tiny_models import PADDING, gpt2, t5, tokenizer

network_module = lazily("spotthebot.judges.trained.network")
torch = lazily("torch")
BertConfig = lazily("transformers:BertConfig")
BertModel = lazily("transformers:BertModel")
QUICK = NetworkOptions(epochs=2, learning_rate=5e-3, max_tokens=320)
CAMPAIGN: Any = SimpleNamespace(name="autumn", id="11111111-1111-1111-1111-111111111111")


def bert(folder):
    """An encoder with random weights."""
    words = tokenizer(pad_token=PADDING)
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=320, **sizes)).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def _trained(folder, options=QUICK):
    some = units(per_pair=8)
    network = network_module.Network.load(folder, options)
    network.train(shown_of(some), *counts_of(some))
    return network


class TestNetwork:
    def test_learns_which_word_gives_a_bot_away(self, tmp_path):
        bert(tmp_path)
        network = _trained(tmp_path, replace(QUICK, epochs=12))
        new = units(per_pair=8, seed=1)
        answers = network.probabilities(shown_of(new))
        own = [" ".join(turn.text for turn in unit.turns if turn.speaker == unit.side) for unit in new]
        robotic = np.array(["beep" in text for text in own])
        assert answers[~robotic].mean() > answers[robotic].mean() + 0.2

    def test_with_the_same_seed_has_the_same_weights(self, tmp_path):
        gpt2(tmp_path)
        some = shown_of(units(per_pair=2))
        one, same, other = (_trained(tmp_path, replace(QUICK, seed=seed)).probabilities(some) for seed in (0, 0, 1))
        assert np.array_equal(one, same)
        assert not np.allclose(one, other)

    def test_answers_the_same_about_a_segment_alone_and_among_longer_ones(self, tmp_path):
        gpt2(tmp_path)
        network = _trained(tmp_path)
        some = shown_of(units(per_pair=2))
        longer = (tuple(some[0][0]) * 9, some[0][1])
        alone = network.probabilities(some[:1])
        assert network.probabilities([some[0], longer])[0] == pytest.approx(alone[0], abs=1e-5)

    def test_is_read_as_it_was_written(self, tmp_path):
        gpt2(tmp_path)
        network = _trained(tmp_path)
        written = tmp_path / "written"
        written.mkdir()
        network.write(written)
        some = shown_of(units(per_pair=2))
        again = network_module.Network.load(written, QUICK).probabilities(some)
        assert again == pytest.approx(network.probabilities(some), abs=1e-6)

    def test_refuses_folders_without_a_model(self, tmp_path):
        with pytest.raises(ModelUnusable, match=str(tmp_path)):
            network_module.Network.load(tmp_path, QUICK)

    def test_refuses_an_encoder_decoder(self, tmp_path):
        t5(tmp_path)
        with pytest.raises(ModelUnusable, match="neither an encoder nor a causal model"):
            network_module.Network.load(tmp_path, QUICK)

    @pytest.mark.parametrize(
        "changed", [{"epochs": 0}, {"batch_size": 0}, {"max_tokens": 7}, {"seed": -1}, {"learning_rate": 0.0}]
    )
    def test_refuses_options_out_of_range(self, changed):
        with pytest.raises(OptionOutOfRange, match=next(iter(changed))):
            NetworkOptions(**changed)


class TestJudgeWithANetwork:
    def test_is_scored_beside_text_features_and_says_which_answers(self, tmp_path):
        some = units(per_pair=3)
        gpt2(tmp_path / "model")
        card = train_judge(
            some,
            tmp_path / "judge",
            campaign=CAMPAIGN,
            labels_by=AnnotatorKind.PERSON,
            today=date(2026, 11, 27),
            model=tmp_path / "model",
            options=replace(QUICK, epochs=1),
        )
        assert set(card.scores.losses) == {"constant", TEXT_FEATURES, NETWORK}
        assert card.answers_by == TEXT_FEATURES
        assert "The network does not beat text features for certain" in " ".join(card.findings)
        assert card.options["epochs"] == 1
        # Of its own models, only the network of the fold answers once the card says so.
        value = json.loads((tmp_path / "judge" / CARD).read_text())
        (tmp_path / "judge" / CARD).write_text(json.dumps(value | {"answers_by": NETWORK}))
        answers = TrainedJudge(tmp_path / "judge").probabilities(shown_of(some))
        losses = [(known(p) - label.human) ** 2 for unit, p in zip(some, answers, strict=True) for label in unit.labels]
        assert card.scores.losses[NETWORK][BRIER] == pytest.approx(np.mean(losses), abs=1e-6)


class TestScores:
    @pytest.mark.parametrize(("low", "best"), [(0.01, NETWORK), (-0.01, TEXT_FEATURES), (None, TEXT_FEATURES)])
    def test_let_the_network_answer_only_where_it_certainly_beats_text_features(self, low, best):
        gain = Gain(NETWORK, TEXT_FEATURES, LOG_LOSS, 0.02, low, low and 0.05, None)
        over_constant = Gain(TEXT_FEATURES, "constant", LOG_LOSS, 0.02, 0.01, 0.03, None)
        assert Scores(10, {}, (over_constant, gain)).best == best
        assert asdict(gain)["judge"] == NETWORK
