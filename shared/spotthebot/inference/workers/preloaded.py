"""What models need, whatever their kind; the program that forks their processes imports it (`kit.processes.forks`).

Torch's threads wait for each other by spinning, which starves all others where cores are few; a short spin is kind.
"""

import os

NEEDS = ("spotthebot.inference.models.batch",)

os.environ.setdefault("GOMP_SPINCOUNT", "1000")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
