"""What a name, an id or a part of an id stands for."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import pytest

from spotthebot.cli.commands import keys
from spotthebot.cli.declarations.names import UnknownName
from spotthebot.cli.errors import NameIsAmbiguous, NoSuchName, PrefixIsAmbiguous
from spotthebot.cli.resources.resolver import Directory, find, find_addable, find_declared
from spotthebot.kit.access.keys import ApiKey
from spotthebot.kit.errors import NotFound

FIRST, SECOND, OLD = (UUID(f"0193cafe-000{number}-7000-8000-00000000000{number}") for number in (1, 2, 3))
NAMED_LIKE_AN_ID = UUID("01940000-0000-7000-8000-000000000000")


@dataclass(frozen=True)
class Thing:
    id: UUID
    name: str
    is_old: bool = False


class Things(Directory[Thing]):
    noun, plural, otherwise = "thing", "things", "make one"

    def __init__(self, *things: Thing) -> None:
        self._things = things

    async def get(self, resource_id: UUID) -> Thing:
        for each in self._things:
            if each.id == resource_id:
                return each
        raise NotFound

    async def list(self, name: str | None = None) -> AsyncIterator[Thing]:
        for each in self._things:
            if name in {None, each.name}:
                yield each

    def describe(self, resource: Thing) -> str:
        return f"number {resource.id.hex[-1]}"

    def gives_way(self, resource: Thing) -> bool:
        return resource.is_old


THINGS = Things(
    Thing(FIRST, "one"), Thing(OLD, "one", is_old=True), Thing(SECOND, "two"), Thing(NAMED_LIKE_AN_ID, "0193cafe")
)


class TestListOfKeys:
    @pytest.mark.parametrize(
        ("team", "expires", "cells"),
        [
            ("acme", None, ("team of acme", "valid")),
            (None, datetime(2026, 12, 31, tzinfo=UTC), ("team", "valid to 2026-12-31")),
            (None, datetime(2026, 1, 1, tzinfo=UTC), ("team", "expired")),
        ],
    )
    def test_says_of_a_key_whose_it_is_and_how_long_it_holds(
        self, team: str | None, expires: datetime | None, cells: tuple[str, str]
    ):
        key = ApiKey(FIRST, "team", team, "", datetime(2025, 1, 1, tzinfo=UTC), expires, None)
        assert (keys._holder(key), keys._state_in_list(key, datetime(2026, 6, 1, tzinfo=UTC))) == cells


class TestFind:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("one", FIRST),
            (str(SECOND), SECOND),
            (SECOND.hex, SECOND),
            ("0193cafe-0002", SECOND),
            ("0193CAFE0002", SECOND),
            (str(SECOND)[:-1], SECOND),
            ("0194", NAMED_LIKE_AN_ID),
            ("0193cafe", NAMED_LIKE_AN_ID),
            ("0193cafe-0003", OLD),
            (SECOND.hex[-4:], SECOND),
        ],
    )
    async def test_goes_by_names_ids_and_their_beginnings_in_this_order(self, text: str, found: UUID):
        assert (await find(THINGS, text)).id == found

    async def test_returns_what_gives_way_where_nothing_else_has_its_name(self):
        assert (await find(Things(Thing(OLD, "one", is_old=True)), "one")).id == OLD

    async def test_lists_all_that_a_name_or_a_beginning_could_mean(self):
        twice = Things(Thing(FIRST, "one"), Thing(SECOND, "one"))
        with pytest.raises(NameIsAmbiguous) as raised:
            await find(twice, "one")
        ids = f"{FIRST} (number 1), {SECOND} (number 2)"
        assert str(raised.value) == f"There are 2 things called 'one': give the id of one of them: {ids}."
        with pytest.raises(PrefixIsAmbiguous) as beginning:
            await find(twice, "0193")
        assert (
            str(beginning.value)
            == f"There are 2 things whose ids begin or end with '0193': give more of the id, or its end: {ids}."
        )

    @pytest.mark.parametrize(
        ("text", "instead"),
        [
            ("ome", "did you mean 'one'?"),
            ("xyz", "name one of one, two, 0193cafe, or make one."),
            ("019", "name one of one, two, 0193cafe, or make one."),
            ("", "name one of one, two, 0193cafe, or make one."),
            (str(UUID(int=0)), "name one of one, two, 0193cafe, or make one."),
        ],
    )
    async def test_says_what_to_write_instead_of_an_unknown_name(self, text: str, instead: str):
        with pytest.raises(NoSuchName) as raised:
            await find(THINGS, text)
        assert str(raised.value) == f"There is no thing '{text}': {instead}"

    async def test_names_what_can_be_done_where_there_is_nothing_and_what_else_has_a_name(self):
        with pytest.raises(NoSuchName, match=r"^There is no thing 'one': make one\.$"):
            await find(Things(), "one")
        with pytest.raises(NoSuchName, match=r"did you mean 'three'\?$"):
            await find(THINGS, "thre", also=["three"])

    async def test_shows_no_control_characters_of_names(self):
        with pytest.raises(NoSuchName) as raised:
            await find(Things(Thing(FIRST, "\x1b[2Jone\nLine")), "other")
        assert str(raised.value) == "There is no thing 'other': name one of \ufffd[2Jone Line, or make one."


class TestFindDeclared:
    async def test_says_what_is_wrong_as_a_part_of_a_sentence(self):
        with pytest.raises(UnknownName, match=r"^there is no thing 'ome': did you mean 'one'"):
            await find_declared(THINGS, "ome")

    async def test_leaves_what_is_added_when_it_is_first_named(self):
        twice = Things(Thing(FIRST, "one"), Thing(SECOND, "one"))
        assert await find_addable(THINGS, "three", ["three"]) is None
        assert (await find_declared(THINGS, "two")).id == SECOND
        with pytest.raises(UnknownName, match="did you mean 'three'"):
            await find_addable(THINGS, "tree", ["three"])
        with pytest.raises(UnknownName, match=r"^there are 2 things called 'one'"):
            await find_addable(twice, "one", ["one"])
