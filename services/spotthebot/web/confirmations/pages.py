"""The page that asks for a confirmation before an action that other people notice, or that can't be undone.

If scripts run in the browser, a dialog on the previous page asks the question, and this page is not shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from spotthebot.kit.ids import new_id
from spotthebot.web.confirmations.domain import GRAVE
from spotthebot.web.rendering import Renderer


@dataclass(frozen=True)
class Question:
    """The question whether to do `action` with a campaign, collection, annotator or package.

    `of` says which of the four.

    The visitor fills in the `fields`: `reason`, `amount` (in `currency`) or `submitted_texts`. The form sends
    `attempt`, the number of a training attempt, without asking for it.
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
    """Show a question. If the previous answer has `faults`, show them with the texts `typed` before."""
    return pages.page(
        request,
        "confirmations/confirmation.html.jinja",
        status=422 if faults else 200,
        question=question,
        typed=typed or {},
        faults=faults or {},
        is_grave=question.action in GRAVE,
        once=new_id().hex,
    )
