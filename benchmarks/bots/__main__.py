"""`python -m benchmarks.bots [--only NAME ...]`: rows as a Markdown table; `--write` puts it into the README."""

from benchmarks.command import run

ROWS = ("replies", "hosted", "gpu", "memory")

if __name__ == "__main__":
    run("benchmarks.bots", ROWS)
