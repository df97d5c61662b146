"""`stb protocols`: what it prints, writes and refuses."""

import json
from pathlib import Path

import pytest

from spotthebot.annotation.domain.protocols import check_protocol
from spotthebot.contracts.protocols import AnnotationProtocol
from tests.factories.command_line import run_stb

TASK = {"config": "button_flow", "indices": "odd", "options": {"Is it polite?": {"Yes": {}, "No": {}}}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "buckets.json"
    path.write_text(json.dumps({"config": {"polite": TASK, "odd_one": TASK | {"config": "slider"}}}))
    return path


class TestAbcEval:
    def test_writes_a_document_for_each_task_that_it_converts(self, file: Path, tmp_path: Path):
        done = run_stb("protocols", "abc-eval", file, "--out", tmp_path / "out", "--json")
        assert done.returncode == 0
        tasks = json.loads(done.stdout)["tasks"]
        assert [(each["task"], each["protocol"]) for each in tasks] == [
            ("polite", "abc_eval_polite"),
            ("odd_one", None),
        ]
        assert "slider" in tasks[1]["reason"]
        (written,) = (tmp_path / "out").iterdir()
        document = AnnotationProtocol.model_validate_json(written.read_text())
        assert (written.name, document.name) == ("abc_eval_polite.json", "abc_eval_polite")
        assert check_protocol(document) == ()

    def test_prints_each_task_and_why_it_is_not_converted(self, file: Path):
        done = run_stb("protocols", "abc-eval", file)
        assert done.returncode == 0
        shown = done.stdout + done.stderr
        assert "abc_eval_polite" in shown
        assert "slider" in shown

    @pytest.mark.parametrize(
        ("text", "reason"), [("{", "it is no JSON"), ("[]", "it holds no object"), ("{}", "no object 'config'")]
    )
    def test_refuses_a_file_of_something_else(self, tmp_path: Path, text: str, reason: str):
        path = tmp_path / "buckets.json"
        path.write_text(text)
        done = run_stb("protocols", "abc-eval", path, "--out", tmp_path / "out")
        assert done.returncode == 1
        assert reason in " ".join(done.stderr.split())
        assert not (tmp_path / "out").exists()
