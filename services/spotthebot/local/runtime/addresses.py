"""The addresses of services that run elsewhere, derived from one address and checked."""

import json
import re
from http.client import HTTPException
from ipaddress import ip_address
from urllib.request import ProxyHandler, build_opener

from spotthebot.contracts.services import API_NAMES, ServiceEntry, get_service
from spotthebot.kit.access.keys import parse_key
from spotthebot.kit.outbound.errors import UrlNotUsable
from spotthebot.kit.outbound.urls import HTTP, read_url
from spotthebot.local.errors import AddressNotUsable, KeyNotSecret, NotAKey
from spotthebot.local.runtime.remote import Remote

_SECONDS = 5


def remote_at(url: str, key: str | None, *, allow_http: bool = False) -> Remote:
    """Return the services behind an address. Without a key, nothing may be asked that needs one.

    Each service is at the path of its name: `https://host` means `https://host/bots` and so on. In an address with
    `{service}` or `{port}`, the service's name or usual port is inserted. If a service of a suite on this machine
    answers at the address itself, the other services are at the neighbouring ports. Raises AddressNotUsable and
    NotAKey. Raises KeyNotSecret for http to another machine unless `allow_http`. No message holds the key, or a
    password in a URL.
    """
    if key is not None and parse_key(key) is None:
        raise NotAKey
    if (port_base := _port_base(url)) is not None:
        host = url.rstrip("/").rpartition(":")[0]
        return Remote(url, {name: f"{host}:{get_service(name).port_after(port_base)}" for name in API_NAMES}, key or "")
    urls = {}
    for service in map(get_service, API_NAMES):
        placed = url.replace("{service}", service.name).replace("{port}", str(service.port))
        urls[service.name] = placed.rstrip("/") if placed != url else f"{url.rstrip('/')}/{service.name}"
    for each in urls.values():
        _check(each, allow_http=allow_http)
    return Remote(url, urls, key or "")


def _port_base(url: str) -> int | None:
    """Return the base of a suite's ports; None unless one of the suite's services answers at this local address.

    A reverse proxy is no such address: there the pages answer, and the services at the paths of their names.
    """
    found = re.fullmatch(r"http://(127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})/?", url)
    if found is None:
        return None
    service = _service_at(url.rstrip("/"))
    if service is None or _service_at(f"{url.rstrip('/')}/{API_NAMES[0]}") is not None:
        return None
    return int(found[2]) - service.port_after(0)


def _service_at(url: str) -> ServiceEntry | None:
    """Return the service that answers at an address."""
    try:
        with build_opener(ProxyHandler({})).open(f"{url}/openapi.json", timeout=_SECONDS) as answer:
            title = json.load(answer)["info"]["title"]
        return get_service(title.rpartition(" ")[2])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, HTTPException):
        return None


def _check(url: str, *, allow_http: bool) -> None:
    try:
        read = read_url(url, HTTP)
    except UrlNotUsable as error:
        raise AddressNotUsable(reason=error.facts["reason"]) from error
    if "?" in read.target:
        raise AddressNotUsable(reason="it has a query (?...)")
    if not (read.is_tls or allow_http or _is_loopback(read.host)):
        raise KeyNotSecret(host=read.host)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
