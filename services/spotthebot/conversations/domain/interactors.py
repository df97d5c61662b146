"""Who chatted in a conversation, as salted hashes: enough to keep a conversation from its own person, no more.

The service `annotation` must not show people their own chats, and must never learn who speaks. So it gets a hash for
each conversation, with a salt that is drawn for each answer; where nobody chatted the hash is of random bytes, and
nothing tells such a conversation from a chat with somebody whose id is not known.
"""

import hashlib
import secrets

from spotthebot.kit.pseudonyms import name_in_exports

_SALT_BYTES = 32


class Interactors:
    """Hashes for one answer: SHA-256 over the answer's salt and the interactor's id in UTF-8."""

    def __init__(self) -> None:
        self.salt = secrets.token_bytes(_SALT_BYTES)

    def sha256(self, interactor: str | None) -> str:
        """Return the hash of a person who chatted, or of nobody, in hexadecimal."""
        hashed = secrets.token_bytes(_SALT_BYTES) if interactor is None else interactor.encode()
        return hashlib.sha256(self.salt + hashed).hexdigest()


def pseudonym_of(interactor: str, key: bytes | None) -> str:
    """Return what all but administrators call a person who chatted, under their collection's key; else their id."""
    return interactor if key is None else name_in_exports(key, interactor.encode(), interactor)
