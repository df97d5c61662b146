"""`python -m benchmarks.web`: what a page weighs, how soon it shows, how soon it answers a key; `--write` for the README."""

from benchmarks.command import run

ROWS = ("pages", "keys")

if __name__ == "__main__":
    run("benchmarks.web", ROWS)
