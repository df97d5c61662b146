"""Links by which people come to the pages of a chat, sealed as an administrator's page seals them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from spotthebot.web.domain.chats import ChatLink
from tests.factories.running_suite import RunningSuite


def entry_of(suite: RunningSuite, study: str, *, hours: float = 1, **more: Any) -> str:
    """Return the path of a link into a collection; `more` says whom it is for."""
    link = ChatLink(UUID(study), datetime.now(UTC) + timedelta(hours=hours), **more)
    return f"/chat/{study}/enter?entry={seal(suite, link.to_content())}"


def seal(suite: RunningSuite, content: dict[str, str]) -> str:
    """Seal anything as the pages do."""
    text: str = suite.apps["web"].state.vault.seal(json.dumps(content)).decode()
    return text
