"""Reads the file of a judge: the name, a description, and the settings of one kind."""

from pathlib import Path
from typing import Final

from spotthebot.cli.declarations.declared import Contradictions, Declared, Form, read_declared
from spotthebot.contracts.annotation.judges import (
    EndpointJudge,
    FedJudge,
    JudgeIn,
    JudgePrompt,
    PluginJudge,
    SimulatedJudge,
    TrainedJudge,
)


def _contradictions(_judge: JudgeIn) -> Contradictions:
    """Return nothing: the contract checks all that belongs together."""
    return iter(())


_FORM: Final = Form(
    JudgeIn,
    _contradictions,
    page='"Use judges" in the documentation',
    example="name: gpt-4o-mini",
    inside={
        ("settings",): EndpointJudge,
        ("settings", "endpoint"): EndpointJudge,
        ("settings", "endpoint", "prompts"): JudgePrompt,
        ("settings", "trained"): TrainedJudge,
        ("settings", "simulated"): SimulatedJudge,
        ("settings", "fed"): FedJudge,
        ("settings", "plugin"): PluginJudge,
    },
    refused={"settings.key": "a judge holds no key: name the environment variable that holds it, by key_variable."},
)


def read_judge(path: Path) -> Declared[JudgeIn]:
    """Read a judge's file; raises DeclarationFaulty with all faults of the file."""
    return read_declared(path, _FORM)
