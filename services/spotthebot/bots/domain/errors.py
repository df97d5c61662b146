"""The errors of bots.

Invalid
├── UnknownCorpus
├── TeamKeyWithoutTeam
├── SecretNotUsed
├── StatusNotForOwners
├── MessagesNotAlternating
├── MessagesNotUsable
└── TemperatureNotTaken
Forbidden
└── HostingIsForAdministrators
NotFound
├── NoSuchBot
├── NoSuchVersion
├── BotNotNamed
└── NoSuchHostedModel
Conflict
├── BotNameTaken
├── BotRetired
├── BotNotAsked
├── ModelFilesChanged
├── TrainingDataChanged
├── HostedModelNameTaken
├── HostedModelLoaded
├── HostedModelChanging
└── NoFilesYet
TooMany
└── TooManyProbes
Unavailable
├── SecretUnreadable
├── ModelLeaseLost
└── ChatFailed
"""

from spotthebot.kit.errors import Conflict, Forbidden, Invalid, NotFound, TooMany, Unavailable


class UnknownCorpus(Invalid):
    """There is no corpus {corpus_id} with dialogues in the split '{split}' to learn from."""


class TeamKeyWithoutTeam(Invalid):
    """This API key has the role team but names no team: ask for a key made with --team."""


class SecretNotUsed(Invalid):
    """The protocol {kind} uses no secret: leave it out."""


class StatusNotForOwners(Invalid):
    """A bot can be set active, suspended or retired; the suite itself sets '{status}'."""


class MessagesNotAlternating(Invalid):
    """The last message is the assistant's: end with the user's, so that the bot has something to answer."""


class MessagesNotUsable(Invalid):
    """The messages can't be shown to a bot: {reason}."""


class TemperatureNotTaken(Invalid):
    """The bot '{name}' ({kind}) has no temperature: leave `temperature` out, or send 1."""


class HostingIsForAdministrators(Forbidden):
    """Only an administrator may register such bots of the protocol {kind}: their models run on this server."""


class NoSuchBot(NotFound):
    """There is no bot {bot_id}, or this API key may not see it."""


class BotNotNamed(NotFound):
    """Among the bots that this API key may use {how_many} called '{name}': use a bot's id."""


class NoSuchVersion(NotFound):
    """The bot {bot_id} has no version {version}."""


class NoSuchHostedModel(NotFound):
    """There is no hosted model '{name}'."""


class BotNameTaken(Conflict):
    """A bot named '{name}' is registered already: choose another name, or add a version to that bot."""


class BotNameLooksAlike(Conflict):
    """The name '{name}' looks like '{other}', which another bot has: choose one that people tell apart from it."""


class BotRetired(Conflict):
    """The bot '{name}' is retired, which is for good: register a new one."""


class BotNotAsked(Conflict):
    """The bot '{name}' is {status}: it is asked nothing."""


class ModelFilesChanged(Conflict):
    """The files of the model '{model}' have changed since bot {bot_id} was registered: add a version to the bot."""


class TrainingDataChanged(Conflict):
    """The dialogues that bot {bot_id} may learn from are others than at its registration: add a version to the bot."""


class HostedModelNameTaken(Conflict):
    """A model named '{name}' is hosted already: choose another name, or delete it first."""


class HostedModelLoaded(Conflict):
    """The model '{name}' is loaded: unload it before its files change."""


class HostedModelChanging(Conflict):
    """Another request is changing the model '{name}': try again in {retry_after_seconds} s."""


class NoFilesYet(Conflict):
    """The model '{name}' has no files yet: upload them first."""


class TooManyProbes(TooMany):
    """This team has {running} probes running already: try again in {retry_after_seconds} s."""


class SecretUnreadable(Unavailable):
    """The secret of bot {bot_id} can't be decrypted: the encryption key has changed. Set the secret again."""


class ModelLeaseLost(Unavailable):
    """The database did not answer while the model '{name}' was being changed: repeat the change."""


class ChatFailed(Unavailable):
    """The bot gave no reply ({failure}): {detail}"""  # noqa: D400 - ends as the detail does
