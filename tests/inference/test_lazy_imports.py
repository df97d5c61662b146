"""Torch takes seconds to import, and is optional: services load it in worker processes only."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "spotthebot.bots.app",
        "spotthebot.inference.models.dialogue.kind",
        "spotthebot.inference.triton",
        "spotthebot.inference.triton.repository",
        "spotthebot.inference.workers.pool",
        "spotthebot.inference.workers.process",
    ],
)
def test_importing_a_module_imports_no_torch(module: str):
    program = (
        f"import gc, sys; gc.disable(); import {module}\n"
        "print({'torch', 'transformers', 'tokenizers', 'safetensors'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
