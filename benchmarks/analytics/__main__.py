"""`python -m benchmarks.analytics [--only NAME ...]`: a Markdown table; `--write` puts it into the README."""

from benchmarks.command import run

ROWS = (
    "trueskill_bootstrap",
    "rank_ranges",
    "stability",
    "alpha_bootstrap",
    "bradley_terry",
    "interval_npmle",
    "mixed_models",
    "assessment",
    "campaign",
    "study",
)
COLUMNS = ("Work", "Ours", "Rival", "Rival's time", "Ratio", "Agreement", "Goal", "Reached")

if __name__ == "__main__":
    run("benchmarks.analytics", ROWS, columns=COLUMNS)
