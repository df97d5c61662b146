"""Sign-in through an OpenID provider: the authorization code flow with PKCE, and the API key for what a person is.

https://openid.net/specs/openid-connect-core-1_0.html and https://www.rfc-editor.org/rfc/rfc7636. The services know API
keys alone: the operator says which key the values of a claim stand for, such as the groups of an organisation.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self, cast
from urllib.parse import urlencode

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from spotthebot.web.settings import WebSettings
from spotthebot.web.visitors.errors import ProviderFailed, ProviderKnowsNoRole

_SECONDS: Final = 10.0
_MAX_BYTES: Final = 1024 * 1024
_ALGORITHMS: Final = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures with a key pair alone: with HS256, or none, anybody who knows the client's secret could sign."""
CALLBACK: Final = "/sign-in/provider/done"


@dataclass(frozen=True)
class Attempt:
    """A sign-in that has begun, as the browser's sealed cookie keeps it."""

    state: str
    nonce: str
    verifier: str
    after: str

    def to_session(self) -> dict[str, str]:
        return asdict(self)

    @classmethod
    def from_session(cls, content: Mapping[str, str]) -> Self:
        return cls(content["state"], content["nonce"], content["verifier"], content["after"])


class _Limited(httpx2.AsyncByteStream):
    """The body of an answer; raises ValueError after `_MAX_BYTES`."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > _MAX_BYTES:
                message = f"its answer is larger than {_MAX_BYTES} bytes"
                raise ValueError(message)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _limit(response: httpx2.Response) -> None:
    """Limit the body of an answer before it is read; a compressed one has no limit, so it is refused."""
    if "Content-Encoding" in response.headers:
        message = "its answer is compressed"
        raise ValueError(message)
    response.stream = _Limited(cast("httpx2.AsyncByteStream", response.stream))


_CONNECTION: Final[dict[str, Any]] = {
    "timeout": _SECONDS,
    "headers": {"Accept-Encoding": "identity"},
    "event_hooks": {"response": [_limit]},
}


class Provider:
    """An OpenID provider. `keys` maps values of the claim to API keys; the first value that a person has decides."""

    def __init__(self, settings: WebSettings, keys: Mapping[str, str]) -> None:
        self._issuer = settings.oidc_issuer.rstrip("/")
        self._client = settings.oidc_client_id, settings.oidc_client_secret.get_secret_value() or None
        self._scope, self._claim = settings.oidc_scope, settings.oidc_claim
        self._keys = keys
        self._home = settings.public_url.rstrip("/")
        self._document: dict[str, Any] = {}

    @classmethod
    def of(cls, settings: WebSettings) -> Self | None:
        """Return the provider of the settings, or None."""
        return cls(settings, settings.read_oidc_keys()) if settings.oidc_issuer else None

    async def begin(self, after: str) -> tuple[str, Attempt]:
        """Return the address to which the browser goes, and the attempt; raises ProviderFailed."""
        attempt = Attempt(secrets.token_urlsafe(24), secrets.token_urlsafe(24), secrets.token_urlsafe(48), after)
        document = await self._discovered()
        async with self._opened() as client:
            address, _ = client.create_authorization_url(
                document["authorization_endpoint"],
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return str(address), attempt

    async def finish(self, attempt: Attempt, code: str) -> str:
        """Return the API key of the person who came back with a code; raises ProviderFailed and ProviderKnowsNoRole."""
        document = await self._discovered()
        try:
            async with asyncio.timeout(_SECONDS), self._opened() as client:
                token = await client.fetch_token(document["token_endpoint"], code=code, code_verifier=attempt.verifier)
                answer = await client.request("GET", document["jwks_uri"], withhold_token=True)
            keys = KeySet.import_key_set(answer.raise_for_status().json())
            claims = jwt.decode(token["id_token"], keys, algorithms=_ALGORITHMS).claims
            jwt.JWTClaimsRegistry(
                leeway=60,
                iss={"essential": True, "value": document["issuer"]},
                aud={"essential": True, "value": self._client[0]},
                exp={"essential": True},
                nonce={"essential": True, "value": attempt.nonce},
            ).validate(claims)
        except (httpx2.HTTPError, OAuthError, JoseError, LookupError, OSError, ValueError, TypeError) as error:
            raise ProviderFailed(reason=_reason(error)) from error
        values = _values(claims, self._claim)
        for value, key in self._keys.items():
            if value in values:
                return key
        raise ProviderKnowsNoRole(claim=self._claim)

    async def end(self) -> str | None:
        """Return the address at which the browser ends the person's session at the provider; None if there is none.

        https://openid.net/specs/openid-connect-rpinitiated-1_0.html
        """
        try:
            address = (await self._discovered()).get("end_session_endpoint")
        except ProviderFailed:
            return None
        query = urlencode({"client_id": self._client[0], "post_logout_redirect_uri": f"{self._home}/"})
        return f"{address}?{query}" if address else None

    def _opened(self) -> AsyncOAuth2Client:
        return AsyncOAuth2Client(
            *self._client,
            scope=self._scope,
            redirect_uri=f"{self._home}{CALLBACK}",
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if self._client[1] else "none",
            **_CONNECTION,
        )

    async def _discovered(self) -> dict[str, Any]:
        if not self._document:
            try:
                async with asyncio.timeout(_SECONDS), httpx2.AsyncClient(**_CONNECTION) as client:
                    answer = await client.get(f"{self._issuer}/.well-known/openid-configuration")
                document = answer.raise_for_status().json()
                if str(document["issuer"]).rstrip("/") != self._issuer:
                    raise ProviderFailed(reason=f"{self._issuer} calls itself {document['issuer']}")
                for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                    httpx2.URL(document[name])
            except (httpx2.HTTPError, httpx2.InvalidURL, LookupError, OSError, ValueError, TypeError) as error:
                raise ProviderFailed(reason=_reason(error)) from error
            self._document = document
        return self._document


def _values(claims: Mapping[str, Any], name: str) -> list[Any]:
    """Return the values of a claim by its name, or by the path to it, such as `realm_access.roles`.

    An address that the provider itself calls unverified is no value.
    """
    said: Any = claims
    for part in [name] if name in claims else name.split("."):
        said = said.get(part) if isinstance(said, Mapping) else None
    if name == "email" and claims.get("email_verified") is False:
        return []
    return said if isinstance(said, list) else [said]


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError | httpx2.TimeoutException):
        return f"the provider did not answer within {_SECONDS:g} s"
    return str(error) or type(error).__name__
