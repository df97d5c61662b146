"""What can go wrong on the command line before any service is asked.

Conflict
├── CampaignNameTaken
├── CollectionNameTaken
└── TeamNameLooksAlike
NotFound
├── NoSuite
├── NothingRuns
├── NoSuchName
├── NameIsAmbiguous
└── PrefixIsAmbiguous
Invalid
├── NobodyToAsk
├── FolderNotOurs
├── NoLabels
├── OneBotInTable
├── SecretsWithheld
├── OutputNotWritable
└── NotTaskSchemas
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class CampaignNameTaken(Conflict):
    """Another file made the campaign '{name}' ({differences}): choose another name, or change it with --change."""


class CollectionNameTaken(Conflict):
    """The collection '{name}' has another plan ({differences}): choose another name, or './stb collect --restart'."""


class TeamNameLooksAlike(Conflict):
    """The name '{name}' looks like '{other}', which a team has: write that one, or another that people tell apart."""


class NoSuite(NotFound):
    """There is no suite in {folder}: './stb up' and './stb demo' make one, --data-dir names another folder."""


class NothingRuns(NotFound):
    """No suite runs on {folder}: start one with './stb up'."""


class NoSuchName(NotFound):
    """There is no {noun} '{name}': {instead}"""  # noqa: D400 - ends as the suggestion does


class NameIsAmbiguous(NotFound):
    """There are {count} {plural} called '{name}': give the id of one of them: {ids}."""


class PrefixIsAmbiguous(NotFound):
    """There are {count} {plural} whose ids begin with '{prefix}': give more of the id: {ids}."""


class NobodyToAsk(Invalid):
    """This can't be taken back, and there is nobody at a terminal to ask: add --yes to do it."""


class FolderNotOurs(Invalid):
    """{folder} is not removed, because {other} lies in it: remove what is the suite's by hand."""


class NoLabels(Invalid):
    """{file} holds {kind}, and no labels: './stb analyse table {path}' ranks its bots without any service."""


class OneBotInTable(Invalid):
    """{file} is about one bot alone, {bot}: a ranking needs two."""


class SecretsWithheld(Invalid):
    """{reason}: add --secrets to print them all the same."""


class OutputNotWritable(Invalid):
    """The result can't be written to {path}: {reason}"""  # noqa: D400 - ends as the reason does


class NotTaskSchemas(Invalid):
    """{path} holds no task schemas: {reason}"""  # noqa: D400 - ends as the reason does
