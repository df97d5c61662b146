"""What a row of this table says: what was done, how fast ours was, how fast what it is compared with, and the goal."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """One row, in sentences for people; `reached` is None where there is no goal, or nothing could be measured."""

    work: str
    ours: str
    compared: str
    result: str
    goal: str = "-"
    reached: bool | None = None

    def cells(self) -> list[str]:
        """Return the cells of the table's row."""
        reached = {True: "yes", False: "**no**", None: "-"}[self.reached]
        return [self.work, self.ours, self.compared, self.result, self.goal, reached]
