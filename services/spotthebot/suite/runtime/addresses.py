"""The addresses of services that run elsewhere, made of one and checked."""

from ipaddress import ip_address

from spotthebot.contracts.services import API_NAMES, get_service
from spotthebot.kit.access.keys import parse_key
from spotthebot.kit.outbound import HTTP, UrlNotUsable, read_url
from spotthebot.suite.errors import AddressNotUsable, KeyNotSecret, NotAKey
from spotthebot.suite.runtime.remote import Remote


def remote_at(url: str, key: str, *, allow_http: bool = False) -> Remote:
    """Return the services behind an address.

    Each is at the path of its name: `https://host` stands for `https://host/bots` and so on. An address that holds
    `{service}` or `{port}` gets the service's name or its usual port there. Raises AddressNotUsable, NotAKey, and
    KeyNotSecret for http to another machine unless that is allowed. No message holds the key, or a password in a URL.
    """
    if parse_key(key) is None:
        raise NotAKey
    urls = {}
    for service in map(get_service, API_NAMES):
        placed = url.replace("{service}", service.name).replace("{port}", str(service.port))
        urls[service.name] = placed.rstrip("/") if placed != url else f"{url.rstrip('/')}/{service.name}"
    for each in urls.values():
        _check(each, allow_http=allow_http)
    return Remote(url, urls, key)


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
