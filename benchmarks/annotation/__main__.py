"""`python -m benchmarks.annotation`: how fast packages are claimed, answered and submitted, as a Markdown table.

`--only cycles` or `--only million` measures a part, `--write` puts the table into the README.
"""

from benchmarks.command import run

ROWS = ("cycles", "million", "mix")

if __name__ == "__main__":
    run("benchmarks.annotation", ROWS)
