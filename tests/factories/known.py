"""Figures that a test knows to be there."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from numpy.typing import ArrayLike
from scipy import optimize

Value = TypeVar("Value")


def known(value: Value | None) -> Value:
    """Return a figure; fails the test where the data define none."""
    assert value is not None
    return value


def all_known(values: Sequence[Value | None]) -> list[Value]:
    """Return figures; fails the test where the data do not define one of them."""
    return [known(value) for value in values]


def lowest(objective: Callable[..., float], start: ArrayLike, *arguments: float, **settings: Any) -> Any:
    """Minimise by the simplex of Nelder and Mead, which needs no gradient and so repeats no mistake of ours in it."""
    minimize: Callable[..., Any] = optimize.minimize  # its stubs want one type of array for each kind of start
    return minimize(objective, start, args=arguments, method="Nelder-Mead", **settings)
