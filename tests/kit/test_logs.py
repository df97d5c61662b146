from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from spotthebot.kit.access.keys import make_key, parse_key
from spotthebot.kit.ids import new_id, new_ids
from spotthebot.kit.logs import redact


class TestRedaction:
    def test_secret_names_and_secret_looking_values_are_blanked(self):
        key, _ = make_key("admin", new_id())
        event = {
            "event": f"called with {key}",
            "authorization": "Bearer abc",
            "database_url": "postgresql://u:p@h/d",
            "nested": {"password": "p", "url": "postgresql://user:hunter2@host/db", "list": [key]},
            "status": 200,
        }
        said = str(redact(None, "info", event))
        for secret in (key, "Bearer abc", "u:p@", "hunter2", "'p'"):
            assert secret not in said
        assert "200" in said
        assert "@host/db" in said


class TestIds:
    def test_ids_are_version_7_and_sort_by_creation(self):
        ids = new_ids(500)
        assert ids == sorted(ids)
        assert len(set(ids)) == 500
        assert {each.version for each in ids} == {7}


@given(st.sampled_from(["admin", "team", "service"]), st.uuids())
def test_a_key_can_be_parsed_into_its_id_and_secret(role: str, key_id: UUID):
    text, _ = make_key(role, key_id)
    parsed = parse_key(text)
    assert parsed is not None
    assert parsed[0] == key_id
    assert text.endswith(parsed[1])
