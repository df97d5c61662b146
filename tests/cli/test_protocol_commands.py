"""`stb protocols`: what it prints, writes and refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from spotthebot.annotation.protocols.domain.checks import check_protocol
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.annotation.trainings import Training
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
        ("text", "reason"), [("{", "it is not JSON"), ("[]", "it is not a JSON object"), ("{}", "no object 'config'")]
    )
    def test_refuses_a_file_of_something_else(self, tmp_path: Path, text: str, reason: str):
        path = tmp_path / "buckets.json"
        path.write_text(text)
        done = run_stb("protocols", "abc-eval", path, "--out", tmp_path / "out")
        assert done.returncode == 1
        assert reason in " ".join(done.stderr.split())
        assert not (tmp_path / "out").exists()


class TestAbcEvalTraining:
    def test_writes_a_training_and_counts_the_dialogues_that_it_converts(self, tmp_path: Path):
        box: dict[str, Any] = {"_type_": {"checkbox": {}}, "It is rude.": {}}
        tasks, dialogues = tmp_path / "buckets.json", tmp_path / "dialogues.json"
        tasks.write_text(json.dumps({"config": {"rude": TASK | {"options": {"rude_q": box}}}}))
        turns = [["user", "hi"], ["system", "Go away.", {"rude_q": "It is rude."}, "It says so."]]
        dialogue = {"annotation_tasks": ["rude"], "pass_criteria": 1, "turns": turns}
        faulty = dialogue | {"turns": [["system", "hi", {"nice_q": "?"}, ""]]}
        dialogues.write_text(json.dumps({"first": faulty, "last": dialogue}))
        done = run_stb("protocols", "abc-eval-training", tasks, dialogues, "--out", tmp_path / "out", "--json")
        assert done.returncode == 0
        (account,) = json.loads(done.stdout)["trainings"]
        assert (account["training"], account["converted"]) == ("abc_eval_rude", 1)
        ((name, reason),) = [(each["dialogue"], each["reason"]) for each in account["not_converted"]]
        assert name == "first"
        assert "nice_q" in reason
        written = Training.model_validate_json((tmp_path / "out" / "abc_eval_rude_training.json").read_text())
        assert len(written.dialogues) == 1
        shown = run_stb("protocols", "abc-eval-training", tasks, dialogues)
        assert "nice_q" in shown.stdout + shown.stderr
