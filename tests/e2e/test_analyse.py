"""`stb analyse`: the published data analysed where they lie, without any service."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

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
    command = [sys.executable, "-m", "spotthebot.suite", "analyse", *map(str, arguments)]
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
        files = [tmp_path / name for name in ("one.json", "two.json")]
        for file in files:  # two processes: each hashes text in its own way
            _analyse_in_a_process("spot-the-bot", DATA, "--domain", "dailydialog", "--resamples", "50", "--json", file)
        assert files[0].read_bytes() == files[1].read_bytes()

    def test_options_change_what_they_say(self, tmp_path: Path):
        out = tmp_path / "result.json"
        options = ["--filter", "none", "--unit", "conversation", "--correction", "bonferroni", "--resamples", "20"]
        assert _analyse("spot-the-bot", DATA, "--domain", "dailydialog", *options, "--json", out).returncode == 0
        result = json.loads(out.read_text())
        assert (result["filter"], result["unit"], result["correction"]) == ("none", "conversation", "bonferroni")
        assert result["counts"]["annotations"] == 2136

    def test_a_report_folder_that_is_a_file_is_refused_before_any_work(self, tmp_path: Path):
        (tmp_path / "file").write_text("")
        done = _analyse("spot-the-bot", DATA, "--domain", "dailydialog", "--out", tmp_path / "file")
        assert (done.returncode, "it is a file" in done.stderr) == (1, True)


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
            (["mine", ".", "--domain", "dailydialog"], 2, "spot-the-bot"),
        ],
    )
    def test_is_explained_in_one_sentence(self, arguments: list[str], code: int, said: str):
        done = _analyse(*arguments)
        assert done.returncode == code
        assert said in done.stderr.replace("\n", " ")
        assert "Traceback" not in done.stderr
