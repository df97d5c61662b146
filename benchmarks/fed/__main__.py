"""`python -m benchmarks.fed [--only NAME ...]`: rows as a Markdown table; `--write` puts it into the README.

It needs torch and transformers, and of this project the folders `benchmarks`, `services` and `shared` alone:
`PYTHONPATH=.:services:shared python -m benchmarks.fed --only gpu` on a bare machine with a GPU.
"""

import argparse

from benchmarks.command import run

ROWS = ("released", "floor", "cache", "dialogue", "gpu")
TOY_OPTIONS = {"threads": [1], "lengths": [32]}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threads", nargs="+", type=int, default=[1, 2], help="threads on the processor (default: 1 2)"
    )
    parser.add_argument(
        "--tokens", nargs="+", type=int, default=[32, 128, 512], dest="lengths", help="lengths of contexts"
    )


if __name__ == "__main__":
    run("benchmarks.fed", ROWS, add_options=_add_options, toy_options=TOY_OPTIONS)
