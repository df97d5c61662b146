"""Options that belong together, given to many commands at once, and what they come to as one argument."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

Command = Callable[..., None]


def adding(group: Callable[..., Any], name: str | None = None) -> Callable[[Command], Command]:
    """Return a decorator that gives a command the options of a function.

    The command gets what the function returns as its argument `name`; without a name it gets nothing, and the function
    only checks.
    """
    options = inspect.signature(group).parameters

    def decorate(command: Command) -> Command:
        own = [each for each in inspect.signature(command).parameters.values() if each.name != name]

        @functools.wraps(command)
        def run(**values: Any) -> None:  # noqa: ANN401 - whatever typer read
            made = group(**{option: values.pop(option) for option in options})
            command(**values, **({} if name is None else {name: made}))

        everything = (each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own, *options.values()))
        vars(run)["__signature__"] = inspect.Signature(list(everything))
        return run

    return decorate
