"""Text on the wire: what counts as a name, and what as an utterance."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from spotthebot.contracts.wire import Name, Words


@pytest.mark.parametrize("kind", [Name, Words])
class TestText:
    def test_is_stripped(self, kind: Any):
        assert TypeAdapter(kind).validate_python("  a b \n") == "a b"

    @pytest.mark.parametrize("text", ["", "   ", "a\u0000b", "a" * 2001])
    def test_is_refused_where_it_is_blank_or_too_long_or_holds_nul(self, kind: Any, text: str):
        with pytest.raises(ValidationError):
            TypeAdapter(kind).validate_python(text)
