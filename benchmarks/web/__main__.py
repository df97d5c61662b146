"""`python -m benchmarks.web`: what a page weighs, how soon it shows and answers a key; `--write` fills the README."""

from benchmarks.command import run

ROWS = ("pages", "keys")

if __name__ == "__main__":
    run("benchmarks.web", ROWS)
