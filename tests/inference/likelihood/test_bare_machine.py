"""The scorer and its benchmark need torch, transformers and numpy alone, so that they run on a bare GPU machine."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
from importlib.machinery import ModuleSpec
from unittest.mock import MagicMock

THERE = {"torch", "transformers", "huggingface_hub", "tokenizers", "safetensors", "jinja2"}  # with the first two
OURS = {"spotthebot", "benchmarks", "numpy"}


class Bare:
    "Stands for the libraries of such a machine, which take seconds to import, and lets nothing else be found."

    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root in THERE:
            return ModuleSpec(name, self, is_package=True)
        if root not in OURS and root not in sys.stdlib_module_names:
            raise ImportError(f"a bare machine has no {name}")
        return None

    def create_module(self, spec):
        return MagicMock(__path__=[], __spec__=spec)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Bare())
import importlib, pkgutil
import benchmarks.fed.__main__ as benchmark
import spotthebot.inference.models.likelihood as likelihood

rows = [f"benchmarks.fed.{row}" for row in benchmark.ROWS]
for name in rows + [f"{likelihood.__name__}.{module.name}" for module in pkgutil.iter_modules(likelihood.__path__)]:
    importlib.import_module(name)
    print(name)
"""


class TestBareMachine:
    def test_can_import_the_scorer_and_its_benchmark(self):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=ROOT,
            env={"PYTHONPATH": ".:services:shared"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        imported = done.stdout.split()
        assert {"benchmarks.fed.gpu", "spotthebot.inference.models.likelihood.packed"} <= set(imported)
