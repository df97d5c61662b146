"""`stb plan`: what it prints, writes and refuses."""

import json
from pathlib import Path

import pytest

from spotthebot.analytics.stats.pair_power import Design
from spotthebot.analytics.stats.rating_power import RatingDesign, effect_of_shares
from spotthebot.analytics.stats.rating_sample_size import plan_dialogues
from spotthebot.analytics.stats.sample_size import plan_conversations
from tests.factories.command_line import run_stb


class TestCost:
    def test_crosses_at_the_51_bots_of_the_paper(self):
        done = run_stb("plan", "cost")
        assert done.returncode == 0
        assert "33.3" in done.stdout  # 5 bots, 100 chats of 4 minutes
        assert done.stderr.strip() == "Annotation costs no more with up to 51 bots."

    def test_refuses_what_is_no_design_in_one_sentence(self):
        done = run_stb("plan", "cost", "--bots", "1")
        assert done.returncode == 2
        assert "bots: must be at least 2" in done.stderr


class TestRatings:
    def test_print_the_power_of_a_number_of_dialogues(self):
        """Finch, Finch & Choi 2023, section 10: with 100 dialogues a bot d = .40 has power .80."""
        done = run_stb("plan", "ratings", "0.4", "--dialogues", "100")
        assert done.returncode == 0
        (row,) = [line.split("│") for line in done.stdout.splitlines() if "d = 0.4" in line]
        assert [cell.strip() for cell in row[2:5]] == ["100", "200", "0.80"]
        assert "--annotators" in done.stderr

    def test_write_a_plan_with_the_options_of_the_design(self, tmp_path: Path):
        out = tmp_path / "plan.json"
        options = ("--annotators", "60", "--bots", "4", "--annotator-correlation", "0.05", "--power", "0.7")
        done = run_stb("plan", "ratings", "0.4", "0.5", *options, "--json", out)
        assert done.returncode == 0
        design = RatingDesign(4, annotator_correlation=0.05, annotators=60)
        expected = [plan_dialogues(effect, design, power=0.7).dialogues for effect in (0.4, 0.5)]
        plan = json.loads(out.read_text())
        assert [each["dialogues"] for each in plan["effects"]] == expected
        assert "--annotators" not in done.stderr

    def test_say_why_there_is_no_plan(self):
        done = run_stb("plan", "ratings", "0.4", "--annotators", "6")
        assert done.returncode == 0
        assert "No plan for d = 0.4: no number of dialogues is enough for 6 annotators" in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            (("0.4", "--annotators", "1"), "annotators: must be at least 2"),
            (("0.4", "--dialogue-correlation", "1"), "dialogue_correlation: must be less than 1"),
            (("much",), "valid number"),
            ((), "Missing argument"),
        ],
    )
    def test_are_refused_with_the_name_of_the_option(self, arguments: tuple[str, ...], reason: str):
        done = run_stb("plan", "ratings", *arguments)
        assert done.returncode == 2
        assert reason in " ".join(done.stderr.split())


class TestBehaviours:
    def test_print_json_alone(self):
        done = run_stb("plan", "behaviours", "0.1", "0.2", "--values-per-annotation", "15", "--json", "-")
        (effect,) = json.loads(done.stdout)["effects"]
        expected = plan_dialogues(effect_of_shares(0.1, 0.2), RatingDesign(values_per_annotation=15))
        assert (effect["dialogues"], effect["share"], effect["other_share"]) == (expected.dialogues, 0.1, 0.2)

    def test_name_the_shares(self):
        done = run_stb("plan", "behaviours", "0.3", "0.3")
        assert "No plan for shares of 0.3 and 0.3: even bots cannot be told apart." in done.stderr


class TestWinRates:
    def test_have_the_plan_of_conversations(self, tmp_path: Path):
        out = tmp_path / "plan.json"
        done = run_stb("plan", "win-rates", "0.75", "0.5", "--annotators", "40", "--json", out)
        assert done.returncode == 0
        expected = plan_conversations(0.75, Design(annotators=40), n_pairs=2).conversations
        plan = json.loads(out.read_text())
        assert [pair["conversations"] for pair in plan["pairs"]] == [expected, None]
        assert str(expected) in done.stdout
        assert "No plan for a win rate of 0.5: even bots cannot be told apart." in done.stderr
