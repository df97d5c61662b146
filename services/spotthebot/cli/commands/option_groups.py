"""Groups of options that many commands share. A command gets the whole group as one argument."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

Command = Callable[..., None]


def adding(group: Callable[..., Any], name: str | None = None) -> Callable[[Command], Command]:
    """Return a decorator that adds the options of the function `group` to a command.

    The command gets the function's result as its argument `name`. Without a name, the function only checks the options.
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
