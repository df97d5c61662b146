"""What can go wrong on the command line before any service is asked.

Conflict
├── AlreadyRunning
├── CampaignNameTaken
├── CollectionNameTaken
├── ImportNameTaken
└── TeamNameLooksAlike
NotFound
├── NoSuite
├── NothingRuns
├── ServicesMissing
├── NoServiceThere
├── NoSuchName
├── NameIsAmbiguous
├── PrefixIsAmbiguous
├── NoSuchModelDirectory
└── OtherModelDirectory
Invalid
├── AddressNotUsable
├── KeyNotSecret
├── NotAKey
├── NotWithUrl
├── NobodyToAsk
├── FolderNotOurs
├── NotAnExport
├── NoLabels
├── NothingToImport
├── OneBotInTable
├── NotAModelDirectory
├── StateUnreadable
├── SecretsWithheld
├── OutputNotWritable
├── NotTaskSchemas
└── ProtocolNotSimulated
Unavailable
├── NoAnswerThere
├── JobFailed
└── TookTooLong
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound, Unavailable


class AlreadyRunning(Conflict):
    """A suite already runs on {folder} (process {pid}): see './stb status', stop it with './stb down'."""


class CampaignNameTaken(Conflict):
    """Another file made the campaign '{name}' ({differences}): choose another name, or change it with --change."""


class CollectionNameTaken(Conflict):
    """The collection '{name}' has another plan ({differences}): choose another name, or './stb collect --restart'."""


class ImportNameTaken(Conflict):
    """Other data, or the same by other columns, has the name '{name}': choose another one with --name."""


class NoSuite(NotFound):
    """There is no suite in {folder}: './stb up' and './stb demo' make one, --data-dir names another folder."""


class NothingRuns(NotFound):
    """No suite runs on {folder}: start one with './stb up'."""


class ServicesMissing(NotFound):
    """The suite on {folder} runs without {services}, which this command needs: start './stb up' without --only."""


class NoServiceThere(NotFound):
    """There is no service '{service}' at {url}: see whether --url gives the right address."""


class NoSuchName(NotFound):
    """There is no {noun} '{name}': {instead}"""  # noqa: D400 - ends as the suggestion does


class NameIsAmbiguous(NotFound):
    """There are {count} {plural} called '{name}': give the id of one of them: {ids}."""


class PrefixIsAmbiguous(NotFound):
    """There are {count} {plural} whose ids begin with '{prefix}': give more of the id: {ids}."""


class NoSuchModelDirectory(NotFound):
    """There is no directory '{path}', from the file's folder or from here: `./stb fed train-scorer` makes a model."""


class OtherModelDirectory(NotFound):
    """There is no directory '{path}', from the file's folder or from here, but there is '{similar}': name that one."""


class AddressNotUsable(Invalid):
    """The services can't be at this address: {reason}. Give one such as https://bots.example.org."""


class KeyNotSecret(Invalid):
    """The API key would go to {host} unencrypted: give an https address, or allow it with --allow-http."""


class TeamNameLooksAlike(Conflict):
    """The name '{name}' looks like '{other}', which a team has: write that one, or another that people tell apart."""


class NotAKey(Invalid):
    """This is no API key: it begins with stb_ and a role, and was shown by './stb keys create'."""


class NotWithUrl(Invalid):
    """{what} can't be used with --url, which uses no data folder: leave --url out, {instead}."""


class NobodyToAsk(Invalid):
    """This can't be taken back, and there is nobody at a terminal to ask: add --yes to do it."""


class FolderNotOurs(Invalid):
    """{folder} is not removed, because {other} lies in it: remove what is the suite's by hand."""


class NotAnExport(Invalid):
    """{path} is no export: {reason}"""  # noqa: D400 - ends as the reason does


class NoLabels(Invalid):
    """{file} holds {kind}, and no labels: './stb analyse table {path}' ranks its bots without any service."""


class NothingToImport(Invalid):
    """Nothing of {file} can be used; its first fault: {reason}."""


class OneBotInTable(Invalid):
    """{file} is about one bot alone, {bot}: a ranking needs two."""


class NotAModelDirectory(Invalid):
    """'{path}' holds no model: there is no config.json in it; `./stb fed train-scorer` makes a model."""


class StateUnreadable(Invalid):
    """The file {path} is damaged ({reason}): stop the suite and move the file away."""


class SecretsWithheld(Invalid):
    """{reason}: add --secrets to print them all the same."""


class OutputNotWritable(Invalid):
    """The result can't be written to {path}: {reason}"""  # noqa: D400 - ends as the reason does


class NotTaskSchemas(Invalid):
    """{path} holds no task schemas: {reason}"""  # noqa: D400 - ends as the reason does


class ProtocolNotSimulated(Invalid):
    """Simulated annotators know the protocols {known} alone: the campaign '{name}' asks by '{protocol}'."""


class PanelNotSimulated(Invalid):
    """The campaign '{name}' takes annotators of the panel '{panel}', whose ids simulated annotators do not have."""


class NoAnswerThere(Unavailable):
    """The service '{service}' does not answer at {url}: {reason}."""


class JobFailed(Unavailable):
    """{what} failed: {reason}"""  # noqa: D400 - ends as the reason does


class TookTooLong(Unavailable):
    """{what} did not finish within {seconds} s: the logs are in {logs}."""
