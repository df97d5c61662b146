from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from fastapi import Request

from spotthebot.bots.deps import AllowAtBot
from spotthebot.contracts.access import Role
from spotthebot.kit.errors import Unauthenticated


class TestAllowAtBot:
    async def test_looks_up_no_bot_for_a_caller_without_a_key(self):
        looked_up: list[UUID] = []
        state = SimpleNamespace(context=SimpleNamespace(begin_lookup=looked_up.append))
        scope: dict[str, Any] = {
            "type": "http",
            "headers": [],
            "path_params": {"bot_id": str(UUID(int=1))},
            "app": SimpleNamespace(state=state),
            "state": {},
        }
        with pytest.raises(Unauthenticated):
            await AllowAtBot(Role.ADMIN).identify(Request(scope))
        assert looked_up == []
