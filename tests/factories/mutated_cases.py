"""Requests of a fuzzer with one part replaced by something nasty."""

import copy
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import requests
import schemathesis

TEXTS = (
    *("", " ", "\0", "\ud800", "x\udfffy", "\u2028", "\u202e", "\ufeff", "\x7f", "\U0010ffff", "e\u0301" * 300),
    *("x" * 30_000, "null", "NaN", "1e999", "-0", "true", "%00", "%s%n", "{0}", "$(id)", "' OR 1=1 --", "../../etc"),
    *("<b>", "a,b", "http://a..b/", "http://[::1]:99999/", "00000000-0000-0000-0000-000000000000"),
    *("9999-12-31T23:59:59Z", "0001-01-01", "stb_admin_x"),
)
NASTY: tuple[Any, ...] = (
    *TEXTS,
    *(None, True, False, 0, -1, 1, 2**31, 2**53, 2**63, 2**64, -(2**63) - 1, 10**300, 1e308, -1e-320, 0.1),
    *([], {}, [[]], [None] * 50, {"": ""}, {"a": {"b": {"c": []}}}),
)
Part = tuple[Any, Any]


@dataclass
class Mutant:
    """A request that is made from a fuzzer's case and changed step by step."""

    method: str
    path: str
    path_parameters: dict[str, str]
    query: dict[str, Any]
    body: Any

    @classmethod
    def of(cls, case: schemathesis.Case[Any]) -> "Mutant":
        path_parameters = {name: quote(str(each), safe="") for name, each in (case.path_parameters or {}).items()}
        body = copy.deepcopy(case.body) if isinstance(case.body, dict | list) else None
        return cls(case.method, case.operation.path, path_parameters, dict(case.query or {}), body)

    def send(self, session: requests.Session, url: str, key: str) -> requests.Response:
        """Send it; JSON may hold what Python's own writer makes of it, halves of surrogate pairs and NaN included."""
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        body = None if self.body is None else json.dumps(self.body)
        address = url + self.path.format(**self.path_parameters)
        return session.request(self.method, address, params=self.query, data=body, headers=headers, timeout=30)

    def mutate(self, rng: random.Random) -> None:
        """Replace, add or remove a part of the body, or replace a parameter of query or path."""
        nasty = copy.deepcopy(rng.choice(NASTY))
        text = rng.choice(TEXTS).encode(errors="replace").decode()
        choice = rng.randrange(8)
        if choice == 0 and self.query:
            self.query[rng.choice(list(self.query))] = text
        elif choice == 1 and self.path_parameters:
            self.path_parameters[rng.choice(list(self.path_parameters))] = quote(text[:300], safe="") or "-"
        elif choice == 2 and isinstance(self.body, dict):
            self.body[rng.choice(TEXTS)[:200]] = nasty
        elif choice == 3 and isinstance(self.body, dict) and self.body:
            del self.body[rng.choice(list(self.body))]
        elif choice == 4 and self.body is not None:
            self.body = nasty
        elif parts := list(_parts(self.body)):
            parent, name = rng.choice(parts)
            parent[name] = nasty


def _parts(value: Any) -> Iterator[Part]:
    """Yield every part of a value, as what holds it and the name or number of the part there."""
    held = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in list(held):
        yield value, name
        yield from _parts(each)
