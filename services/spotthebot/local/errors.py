"""The errors of a suite on this machine, and of the access to a suite elsewhere.

Conflict
└── AlreadyRunning
NotFound
├── ServicesMissing
├── NoServiceThere
├── NoSuchModelDirectory
└── OtherModelDirectory
Invalid
├── AddressNotUsable
├── KeyNotSecret
├── NotAKey
├── NotWithUrl
├── NotAModelDirectory
├── SettingsFileNotUsable
└── StateUnreadable
Unavailable
├── NoAnswerThere
├── JobFailed
└── TookTooLong
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound, Unavailable


class AlreadyRunning(Conflict):
    """A suite already runs on {folder} (process {pid}): './stb down{option}' stops it."""


class ServicesMissing(NotFound):
    """The suite on {folder} runs without {services}, needed here: start './stb up{option}' without --only."""


class NoServiceThere(NotFound):
    """There is no service '{service}' at {url}: check the address in --url."""


class NoSuchModelDirectory(NotFound):
    """There is no '{path}' in the file's folder or the current one: make a model with `./stb fed train-scorer`."""


class OtherModelDirectory(NotFound):
    """There is no directory '{path}' in the file's folder or the current one: name '{similar}' instead."""


class AddressNotUsable(Invalid):
    """The address can't be used for the services: {reason}. Write one such as https://bots.example.org."""


class KeyNotSecret(Invalid):
    """The API key would go to {host} unencrypted: give an https address, or allow it with --allow-http."""


class NotAKey(Invalid):
    """This is not an API key: a key begins with stb_ and a role. './stb keys create' makes one and shows it once."""


class NotWithUrl(Invalid):
    """{what} can't be used with --url, which uses no data folder: leave --url out, {instead}."""


class NotAModelDirectory(Invalid):
    """'{path}' holds no model, since it has no config.json: make a model with `./stb fed train-scorer`."""


class SettingsFileNotUsable(Invalid):
    """The settings in {path} can't be used: {reason}."""


class StateUnreadable(Invalid):
    """The file {path} is damaged ({reason}): stop the suite and move the file away."""


class NoAnswerThere(Unavailable):
    """The service '{service}' does not answer at {url}: {reason}."""


class JobFailed(Unavailable):
    """{what} failed: {reason}"""  # noqa: D400 - ends as the reason does


class TookTooLong(Unavailable):
    """{what} did not finish within {seconds} s: the logs are in {logs}."""
