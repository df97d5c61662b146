"""`python -m benchmarks.web`: what a page weighs and how soon it shows; `--write` puts the table into the README."""

from benchmarks.command import run

ROWS = ("pages",)

if __name__ == "__main__":
    run("benchmarks.web", ROWS)
