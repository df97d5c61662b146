"""Names on the model hub: which texts can be one, and whether the hub answers."""

from pathlib import Path
from typing import Any, Final

from huggingface_hub import constants, utils
from huggingface_hub.errors import HFValidationError

_hub: Any = utils  # its functions have no types
_PAGES: Final = frozenset({"models", "datasets", "spaces"})
"""Addresses of the hub itself, so that no team there is called so."""
_SECONDS: Final = 5.0


def can_be_on_hub(name: str) -> bool:
    """Say whether a text may be a name there, `gpt2` or `team/model`, and does not look like a path of this machine.

    The path of a model that was not made yet, `scores/new` beside other models in `scores`, is none.
    """
    try:
        _hub.validate_repo_id(name)
    except HFValidationError:
        return False
    team, slash, _ = name.partition("/")
    return not slash or not (team in _PAGES or Path(team).exists())


def hub_answers() -> bool:
    """Ask once whether the hub can be reached, where transformers would try five times for each file of a model."""
    if constants.is_offline_mode():
        return False
    try:
        _hub.get_session().head(constants.ENDPOINT, timeout=_SECONDS)
    except Exception:  # noqa: BLE001 - of the session's HTTP library, whichever that is, and of proxies
        return False
    return True
