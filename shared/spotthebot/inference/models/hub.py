"""Names on the model hub: which texts can be such a name, and whether the hub can be reached."""

from pathlib import Path
from typing import Any, Final

from huggingface_hub import constants, utils
from huggingface_hub.errors import HFValidationError

_hub: Any = utils  # its functions have no types
_PAGES: Final = frozenset({"models", "datasets", "spaces"})
"""Paths of the hub itself, which can't be team names there."""
_SECONDS: Final = 5.0


def can_be_on_hub(name: str) -> bool:
    """Return whether a text can be a name on the hub, such as `gpt2` or `team/model`, and not a local path.

    If there is a folder `scores`, the text `scores/new` counts as the path of a model that is not saved yet.
    """
    try:
        _hub.validate_repo_id(name)
    except HFValidationError:
        return False
    team, slash, _ = name.partition("/")
    return not slash or not (team in _PAGES or Path(team).exists())


def hub_answers() -> bool:
    """Return whether the hub can be reached, after one attempt. transformers would make five attempts for each file."""
    if constants.is_offline_mode():
        return False
    try:
        _hub.get_session().head(constants.ENDPOINT, timeout=_SECONDS)
    except Exception:  # noqa: BLE001 - errors of the session's HTTP library, whichever that is, and of proxies
        return False
    return True
