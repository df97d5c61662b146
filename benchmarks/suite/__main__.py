"""`python -m benchmarks.suite [--only NAME ...]`: a Markdown table; `--write` puts it into the README."""

from benchmarks.command import run

ROWS = ("commands", "services")

if __name__ == "__main__":
    run("benchmarks.suite", ROWS)
