"""The page that asks before something is done that others notice, or that nobody can undo.

Where scripts run, the page before shows its question in a dialog.
"""

from starlette.requests import Request
from starlette.responses import Response

from spotthebot.web.domain.admin_actions import GRAVE
from spotthebot.web.rendering import Renderer


def ask(
    request: Request, pages: Renderer, *, of: str, action: str, name: str, back: str, reason: bool = False
) -> Response:
    """Ask whether to do `action` with the campaign, collection or annotator (`of`) of this name.

    With `reason` the answer has to say why.
    """
    return pages.page(
        request,
        "admin/confirmation.html.jinja",
        of=of,
        action=action,
        name=name,
        back=back,
        asks_reason=reason,
        is_grave=action in GRAVE,
    )
