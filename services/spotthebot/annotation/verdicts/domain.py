"""Whether the verdicts on a campaign's pairs fulfil its rule for stopping."""

from collections.abc import Sequence

from spotthebot.contracts.annotation.verdicts import ReportedVerdict, StopWhen


def is_fulfilled(stop_when: StopWhen | None, verdicts: Sequence[ReportedVerdict]) -> bool:
    """Return whether a campaign may stop. A campaign without a pair of bots never stops by itself."""
    if stop_when is None or not verdicts:
        return False
    if stop_when == "every_pair_decided":
        return all(each.verdict != "open" for each in verdicts)
    return all(
        each.low is not None and each.high is not None and each.high - each.low <= stop_when.width for each in verdicts
    )
