"""Text on the wire: what counts as a name, and what as an utterance."""

import pytest
from pydantic import TypeAdapter, ValidationError

from spotthebot.contracts.wire import Name, Words


@pytest.mark.parametrize("kind", [Name, Words])
class TestText:
    def test_is_stripped(self, kind: object):
        assert TypeAdapter(kind).validate_python("  a b \n") == "a b"

    @pytest.mark.parametrize("text", ["", "   ", "a\u0000b", "a" * 2001])
    def test_of_blanks_or_nul_characters_or_too_much_is_refused(self, kind: object, text: str):
        with pytest.raises(ValidationError):
            TypeAdapter(kind).validate_python(text)
