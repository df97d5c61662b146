"""`stb analyse`: the published data analysed where they lie, without any service."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.factories import dump_files
from tests.factories.command_line import Printed, run_stb

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
DATA = SHARED / "data" / "spot-the-bot"
KEYS = {"domain", "filter", "unit", "counts", "win_rates", "ranking", "features", "segments", "fooling_rates"} | {
    "survival",
    "agreement",
    "annotators",
    "time",
}

needs_published_data = pytest.mark.skipif(not DATA.is_dir(), reason="the published data are not beside the clone")


def _analyse(*arguments: str | Path) -> Printed:
    return run_stb("analyse", *arguments)


def _analyse_in_a_process(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "spotthebot.cli", "analyse", *map(str, arguments)]
    subprocess.run(command, capture_output=True, timeout=120, check=True)


@needs_published_data
class TestPublishedData:
    @pytest.mark.parametrize("domain", ["dailydialog", "empathetic"])
    def test_every_figure_agrees_with_the_reference(self, domain: str, tmp_path: Path):
        out = tmp_path / "result.json"
        published = ("--test", "sign", "--clusters", "conversation")
        report = tmp_path / "report"
        done = _analyse("spot-the-bot", DATA, "--domain", domain, "--json", out, "--out", report, *published)
        assert done.returncode == 0, done.stderr
        assert set(json.loads(out.read_text())) >= KEYS
        assert (report / "report.html").is_file()
        checked = subprocess.run(
            [
                sys.executable,
                SHARED / "tools" / "check_analysis.py",
                out,
                SHARED / "reference" / "spot-the-bot" / f"{domain}.json",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert checked.returncode == 0, checked.stdout

    def test_two_runs_write_the_same_bytes(self, tmp_path: Path):
        one, two = tmp_path / "one.json", tmp_path / "two.json"
        options = ("spot-the-bot", DATA, "--domain", "dailydialog", "--resamples", "50", "--json")
        assert _analyse(*options, one).returncode == 0
        _analyse_in_a_process(*options, two)  # another process: each hashes text in its own way
        assert one.read_bytes() == two.read_bytes()

    def test_options_change_what_they_say(self, tmp_path: Path):
        out = tmp_path / "result.json"
        options = ["--filter", "none", "--unit", "conversation", "--correction", "bonferroni", "--resamples", "20"]
        assert _analyse("spot-the-bot", DATA, "--domain", "dailydialog", *options, "--json", out).returncode == 0
        result = json.loads(out.read_text())
        assert (result["filter"], result["unit"], result["correction"]) == ("none", "conversation", "bonferroni")
        assert result["counts"]["annotations"] == 2136

    def test_a_report_folder_that_is_a_file_is_refused_before_any_work(self, tmp_path: Path):
        (tmp_path / "file").write_text("")
        for name, fault in (("file", "it is a file"), ("report.md", "this is the name of a file")):
            done = _analyse("spot-the-bot", DATA, "--domain", "dailydialog", "--out", tmp_path / name)
            assert (done.returncode, fault in done.stderr) == (1, True)


class TestStability:
    @pytest.mark.parametrize(
        ("options", "rule"), [((), "percentile"), (("--stability-rule", "published"), "published")]
    )
    def test_a_bot_that_always_wins_is_first_in_subsets_of_every_size(
        self, options: tuple[str, ...], rule: str, tmp_path: Path
    ):
        _write_study_of_one_winner(tmp_path, conversations=5)
        out = tmp_path / "result.json"
        report = tmp_path / "report"
        done = _analyse(
            "spot-the-bot", tmp_path, "--domain", "dailydialog", "--stability", *options, "--json", out, "--out", report
        )
        assert done.returncode == 0, done.stderr
        stability = json.loads(out.read_text())["stability"]
        assert stability["rule"] == rule
        (curve,) = stability["curves"]  # of two bots none can be left out
        found = [(point["conversations"], point["rate"], point["clusters"]) for point in curve["points"]]
        assert found == [(size, 1.0, [["GPT"], ["DR"]]) for size in (3, 4, 5)]
        assert (curve["first_stable"], curve["stable_from"]) == (3, 3)
        assert f"Stability, {rule} rule" in done.stdout
        assert "stability" in (report / "report.html").read_text().lower()

    def test_conversations_whose_words_the_dump_leaves_out_are_games_of_their_own(self, tmp_path: Path):
        _write_study_of_one_winner(tmp_path, conversations=4, are_said=False)
        out = tmp_path / "result.json"
        done = _analyse("spot-the-bot", tmp_path, "--domain", "dailydialog", "--stability", "--json", out)
        assert done.returncode == 0, done.stderr
        (curve,) = json.loads(out.read_text())["stability"]["curves"]
        assert [point["conversations"] for point in curve["points"]] == [3, 4]


def _write_study_of_one_winner(folder: Path, *, conversations: int, are_said: bool = True) -> None:
    """Write a dump whose annotators always take the first bot for human and the second for a bot."""
    talks = [dump_files.oid(100 + at) for at in range(conversations)]
    spoken = [dump_files.conversation(talk) for talk in talks]
    for conversation in spoken:  # conversations of one text would be one game
        conversation["convo"][0]["text"] = f"hello from {conversation['_id']['$oid']}"
        if not are_said:
            conversation["convo"] = [turn | {"text": ""} for turn in conversation["convo"]]
    (folder / dump_files.CONVERSATIONS).write_text(dump_files.lines(spoken))
    segments = [(talk, 3) for talk in talks]
    (folder / dump_files.PACKAGES).write_text(dump_files.lines([dump_files.package(segments=segments)]))
    (folder / dump_files.ANNOTATIONS).write_text(
        dump_files.lines(
            dump_files.annotation(
                dump_files.oid(1000 + at),
                convo_id=talk,
                first={"is_human": True},
                second={"is_human": False},
            )
            for at, talk in enumerate(talks)
        )
    )


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "code", "said"),
        [
            (["spot-the-bot", "/nowhere", "--domain", "dailydialog"], 1, "/nowhere"),
            (["spot-the-bot", ".", "--domain", "moon"], 1, "moon"),
            (["spot-the-bot", ".", "--domain", "dailydialog", "--resamples", "0"], 2, "resamples"),
            (["spot-the-bot", ".", "--domain", "dailydialog", "--resamples", "10000000"], 2, "resamples"),
            (["spot-the-bot", ".", "--domain", "dailydialog", "--confidence-level", "1.2"], 2, "confidence"),
            (["spot-the-bot", ".", "--domain", "dailydialog", "--json", "/nowhere/x.json"], 1, "folder does not exist"),
            (["mine", ".", "--domain", "dailydialog"], 2, "No such command 'mine'"),
        ],
    )
    def test_is_explained_in_one_sentence(self, arguments: list[str], code: int, said: str):
        done = _analyse(*arguments)
        assert done.returncode == code
        assert said in done.stderr.replace("\n", " ")
        assert "Traceback" not in done.stderr
