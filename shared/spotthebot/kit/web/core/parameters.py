"""Refuses parameters of query and path that no route accepts: unknown names, and text that PostgreSQL can't store."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import get_flat_params
from starlette.requests import Request

from spotthebot.kit.web.core.request_faults import Fault, refuse

_LONGEST_NAME = 50
_NUL = "The text holds the character NUL, which can't be stored."


def query_names(dependant: Dependant) -> tuple[str, ...]:
    """Return the names of a route's query parameters, including those of its dependencies."""
    return tuple(sorted(_names(dependant)))


def check_parameters(request: Request, known: Sequence[str] | None) -> None:
    """Refuse unknown query parameters, and NUL in any parameter. The error suggests the most similar known name.

    If `known` is None, query parameters may have any names. Raises RequestValidationError.
    """
    if request.scope["query_string"]:
        given = request.query_params.multi_items()
        refuse(
            [
                Fault(("query", name), _NUL if known is None or name in known else _unknown(name, known))
                for name, value in given
                if "\0" in value or (known is not None and name not in known)
            ]
        )
    if "\0" in request.scope["path"]:
        refuse([Fault(("path", name), _NUL) for name, value in request.path_params.items() if "\0" in str(value)])


def _names(dependant: Dependant) -> Iterator[str]:
    # Several parameters may be declared as one model.
    yield from (field.alias for field in get_flat_params(Dependant(query_params=dependant.query_params)))
    for each in dependant.dependencies:
        yield from _names(each)


def _unknown(name: str, known: Sequence[str]) -> str:
    if not known:
        return "There is no such parameter: this request takes no query parameters."
    shown = name[:_LONGEST_NAME]
    nearest = get_close_matches(shown, known, n=1, cutoff=0.5)
    if nearest:
        return f"There is no such parameter. The nearest is {nearest[0]}."
    return f"There is no such parameter. Known are: {', '.join(known)}."
