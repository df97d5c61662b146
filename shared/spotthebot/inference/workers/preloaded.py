"""The imports that all kinds of models need. The program that forks their processes (`kit.processes.forks`) makes them.

Torch's threads wait for each other by spinning. With few cores, spinning takes processor time from other threads, so it
is kept short.
"""

import os

NEEDS = ("spotthebot.inference.models.batch",)

os.environ.setdefault("GOMP_SPINCOUNT", "1000")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
