"""The page that asks before something is done that others notice, or that nobody can undo.

Where scripts run, the page before shows its question in a dialog.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from spotthebot.kit.ids import new_id
from spotthebot.web.domain.admin_actions import GRAVE
from spotthebot.web.rendering import Renderer


@dataclass(frozen=True)
class Question:
    """Whether to do `action` with the campaign, collection, annotator or package (`of`) of this name.

    The answer fills the `fields`: `reason`, `amount` (in `currency`), `submitted_texts`; `attempt` goes with it.
    """

    of: str
    action: str
    name: str
    back: str
    fields: tuple[str, ...] = ()
    currency: str | None = None
    attempt: int | None = None


def ask(
    request: Request,
    pages: Renderer,
    question: Question,
    *,
    typed: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
) -> Response:
    """Ask; once more, with what was typed, where the answer has `faults`."""
    return pages.page(
        request,
        "admin/confirmation.html.jinja",
        status=422 if faults else 200,
        question=question,
        typed=typed or {},
        faults=faults or {},
        is_grave=question.action in GRAVE,
        once=new_id().hex,
    )
