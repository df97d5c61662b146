"""`python -m benchmarks.conversations [--only NAME ...]`: a Markdown table; `--write` puts it into the README."""

from benchmarks.command import run

ROWS = ("instant", "waiting", "workers", "traced", "memory", "scale", "growth")

if __name__ == "__main__":
    run("benchmarks.conversations", ROWS)
