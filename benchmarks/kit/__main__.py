"""`python -m benchmarks.kit`: what a request costs, as a Markdown table; `--write` puts it into the README."""

from benchmarks.command import run

ROWS = ("requests",)

if __name__ == "__main__":
    run("benchmarks.kit", ROWS)
