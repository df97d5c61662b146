"""A fuzzer of pages: it asks routes as their pages would, and with parts replaced by something nasty."""

import http.client
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any, Final
from urllib.parse import quote_from_bytes, urlencode, urlsplit

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from tests.factories.mutated_cases import NASTY, TEXTS

PRIVATE: Final = "the words of a person"
"""Stands in nasty texts of forms and bodies: no log may hold it."""
URLS: Final = ("//[", "http://[", "https://[::1", "http://a:b:c/", "http://a:99999999", "//a\\b", "/\\[", "data:,")
HEADERS: Final[Mapping[str, Sequence[str]]] = {
    "Origin": (*URLS, "null", "\xff"),
    "Referer": URLS,
    "Host": ("[", "a:b", "", "\xff", "[::1", "a/b?c"),
    "Sec-Fetch-Site": ("same-origin", "cross-site", "\xff"),
    "Sec-Fetch-Dest": ("iframe",),
    "Accept": ("", "text/html;q=x", "application/json", "text/html;q=\xff", "text/csv"),
    "Accept-Language": ("\xff", "de;q=nan", "de;q=1e999", "," * 2000, "x" * 3000, "de;q=;q=0", "*"),
    "Cookie": ("spotthebot_session=x", "spotthebot_language=\xff", "=;;=", 'a="\\777', "spotthebot_annotator=gAAAAA=="),
    "Content-Type": (
        *("multipart/form-data", "multipart/form-data; boundary=\xff", "multipart/form-data; boundary=x", "text/plain"),
        *("application/x-www-form-urlencoded; charset=none", "application/json; charset=utf-7", "", "\xff"),
    ),
    "Authorization": ("Bearer stb_admin_\xff", "Bearer \t", "Bearer stb_admin_" + "x" * 150, "Basic x"),
    "Last-Event-Id": ("x", "-1", "9" * 400),
    "Content-Encoding": ("gzip", "\xff"),
    "X-Request-Id": ("\xff", "x" * 5000),
    "X-Forwarded-For": ("x", "[", "::1%\xff"),
    "Traceparent": ("\xff", "00-0-0-0"),
}
_BYTES: Final = (b"\xff\xfe", b"%", b"\r\n", b"[", b"..", b"\x00", b"\xed\xa0\x80")
_REFUSED: Final = frozenset({401, 403, 404, 405})
_READ_BYTES: Final = 500_000


@dataclass(frozen=True)
class Sent:
    """A request; its path is written as it goes over the wire."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    form: tuple[tuple[str, str], ...] | None = None
    document: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def target(self) -> str:
        return self.path + (f"?{_encoded(self.query)}" if self.query else "")

    @property
    def body(self) -> bytes | None:
        if self.form is None:
            return None if self.document is None else json.dumps(self.document).encode()
        return _encoded(self.form).encode()

    def mutated(self, rng: random.Random) -> "Sent":
        """Return it with a part replaced or added."""
        text = rng.choice((*TEXTS, *URLS))
        match rng.randrange(6):
            case 0 if self.query:
                return replace(self, query=_with(rng, self.query, text))
            case 1:
                parts = self.path.split("/")
                raw = rng.choice((*_BYTES, text[:300].encode(errors="replace")))
                parts[rng.randrange(1, len(parts))] = quote_from_bytes(raw, safe="")
                return replace(self, path="/".join(parts))
            case 2:
                return replace(self, query=(*self.query, (rng.choice(("", "[", "cursor", "after", "entry")), text)))
            case 3 | 4 if self.form:
                return replace(self, form=_with(rng, self.form, rng.choice((text, f"{PRIVATE}\0", PRIVATE + text))))
            case 3 | 4 if self.document is not None:
                return replace(self, document=_nasty(rng, self.document))
        name = rng.choice(list(HEADERS))
        return replace(self, headers={**self.headers, name: rng.choice(HEADERS[name])})


def _encoded(fields: Sequence[tuple[str, str]]) -> str:
    return urlencode(fields, errors="surrogatepass")


def _with(rng: random.Random, given: tuple[tuple[str, str], ...], text: str) -> tuple[tuple[str, str], ...]:
    at = rng.randrange(len(given))
    return (*given[:at], (given[at][0], text), *given[at + 1 :])


def _nasty(rng: random.Random, document: Any) -> Any:
    if not isinstance(document, dict) or not document or rng.random() < 0.2:
        return rng.choice((*NASTY, f"{PRIVATE}\0"))
    name = rng.choice(list(document))
    return document | {name: _nasty(rng, document[name])}


class _Forms(HTMLParser):
    """The forms of a page as they would be sent untouched."""

    def __init__(self, page: str, path: str) -> None:
        super().__init__()
        self.found: list[Sent] = []
        self._path = path
        self._form: Sent | None = None
        self._fields: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = Sent(given.get("method", "GET").upper(), given.get("action", "").partition("?")[0])
            self._fields = {}
            return
        name, is_chosen = given.get("name", ""), given.get("type") not in {"radio", "checkbox"} or "checked" in given
        if name and (is_chosen or name not in self._fields):
            self._fields[name] = given.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._form is not None:
            fields = tuple(self._fields.items())
            sent = replace(self._form, path=self._form.path or self._path)
            self.found.append(replace(sent, form=fields) if sent.method == "POST" else replace(sent, query=fields))
            self._form = None


@dataclass
class Fuzzer:
    """Sends requests with one person's cookies; `places` fills the routes' paths, `typed` their fields."""

    url: str
    cookies: str
    places: Mapping[str, str]
    typed: Mapping[str, Any]
    rng: random.Random
    mutants: int
    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def run(self, routes: Sequence[APIRoute]) -> None:
        """Ask each route that reads, then those that change something, and the forms of the pages that were read."""
        forms: dict[tuple[str, str, tuple[str, ...]], Sent] = {}
        asked = [sent for route in routes for sent in self._as_meant(route)]
        for sent in sorted(asked, key=lambda each: each.method != "GET"):
            page = self._try(sent)
            if sent.method == "GET":
                for form in _Forms(page, sent.path).found:
                    names = tuple(name for name, _ in form.form or form.query)
                    forms.setdefault((form.method, form.path, names), form)
        for form in forms.values():
            self._try(form)

    def _as_meant(self, route: APIRoute) -> Iterator[Sent]:
        path = route.path.replace(":uuid}", "}").format_map(self.places)
        parameters = list(_flat(route.dependant))
        query = tuple(
            (each.alias, each.default)
            for dependant in parameters
            for each in dependant.query_params
            if isinstance(each.default, str)
        )
        fields = [each.alias for dependant in parameters for each in dependant.body_params]
        for method in sorted(route.methods or ()):
            sent = Sent(method, path, query=query)
            if method != "GET":
                documents = [self.typed[name] for name in fields if isinstance(self.typed.get(name), dict)]
                form = tuple((name, str(self.typed.get(name, "1"))) for name in fields)
                sent = replace(sent, document=documents[0]) if documents else replace(sent, form=form)
            yield sent

    def _try(self, sent: Sent) -> str:
        status, page = self._send(sent)
        for _ in range(1 if status in _REFUSED else self.mutants):
            mutant = sent.mutated(self.rng)
            self._send(mutant if self.rng.random() < 0.6 else mutant.mutated(self.rng))
        return page

    def _send(self, sent: Sent) -> tuple[int, str]:
        body = sent.body
        headers = {"Accept": "text/html", "Cookie": self.cookies}
        if body is not None:
            kind = "application/x-www-form-urlencoded" if sent.form is not None else "application/json"
            headers |= {"Content-Type": kind, "Content-Length": str(len(body))}
        headers |= sent.headers
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        try:
            connection.putrequest(sent.method, sent.target, skip_host="Host" in headers, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value.encode("latin-1"))
            connection.endheaders(body)
            answer = connection.getresponse()
            streams = "event-stream" in (answer.getheader("Content-Type") or "")
            page = b"" if streams else answer.read(_READ_BYTES)
        finally:
            connection.close()
        self.statuses[answer.status] += 1
        if answer.status >= 500:
            self.faults.append(f"{answer.status} for {sent!r:.900}: {page[:300]!r}")
        return answer.status, page.decode(errors="replace")


def _flat(dependant: Dependant) -> Iterator[Dependant]:
    yield dependant
    for each in dependant.dependencies:
        yield from _flat(each)
