"""Errors of the command line that occur before any service is asked.

Conflict
├── CampaignNameTaken
├── CollectionNameTaken
├── StudyDiffers
├── TeamNameLooksAlike
├── PartnersDiffer
├── NoScores
├── SameVersions
├── ConversationsFailed
├── BotDoesNotAnswer
├── PairsNotScored
└── NothingToTest
NotFound
├── NoSuite
├── NothingRuns
├── NoSuchName
├── NoSuchMeasure
├── NameIsAmbiguous
└── PrefixIsAmbiguous
Invalid
├── NobodyToAsk
├── FolderNotOurs
├── NoLabels
├── SecretsWithheld
├── OutputNotWritable
├── NotTaskSchemas
├── NotAPartnerSet
├── TooFewDialogues
├── OptionsOfLabels
├── NoMixedModels
└── GateNeedsOperator
Unavailable
├── HubPackageMissing
├── NoServiceForTools
└── HubNotReached
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound, Unavailable


class CampaignNameTaken(Conflict):
    """The campaign '{name}' differs from this file ({differences}): choose another name, or change it with --change."""


class CollectionNameTaken(Conflict):
    """The collection '{name}' has another plan ({differences}): choose another name, or './stb collect --restart'."""


class StudyDiffers(Conflict):
    """The study '{name}' differs from this file ({differences}): choose another name, or change it with --change."""


class TeamNameLooksAlike(Conflict):
    """The team name '{name}' looks like the team '{other}': write '{other}', or a name that people can tell apart."""


class PartnersDiffer(Conflict):
    """The partner set of {file} has other bots than this evaluation: import it, and name it as the file's partners."""


class NoScores(Conflict):
    """The collection '{collection}' has no scores: './stb evaluate bipartite' scores one."""


class SameVersions(Conflict):
    """'{name}', version {version}, is both old and new: name two versions, or register the new one first."""


class ConversationsFailed(Conflict):
    """{failed} of {all} conversations of {version} failed ({reason}): repeat the command to collect them again."""


class BotDoesNotAnswer(Conflict):
    """The bot '{bot}' does not answer for {version} ({reason}): start it and repeat the command, which goes on."""


class PairsNotScored(Conflict):
    """{left_out} of {all} pairs of conversations have no score: set over_long, or a model that reads longer ones."""


class NothingToTest(Conflict):
    """The versions can't be compared, {reason}: ask for more conversations_per_pair, openings or partners."""


class NoSuite(NotFound):
    """There is no suite in {folder}: './stb up{option}' makes one, --data-dir names another."""


class NothingRuns(NotFound):
    """No suite runs on {folder}: start one with './stb up{option}'."""


class NoSuchName(NotFound):
    """There is no {noun} '{name}': {instead}"""  # noqa: D400 - ends as the suggestion does


class NoSuchMeasure(NotFound):
    """{sentence}"""  # noqa: D400 - the sentence of `analytics`


class NameIsAmbiguous(NotFound):
    """There are {count} {plural} called '{name}': give the id of one of them: {ids}."""


class PrefixIsAmbiguous(NotFound):
    """There are {count} {plural} whose ids begin or end with '{prefix}': give more of the id, or its end: {ids}."""


class NobodyToAsk(Invalid):
    """This can't be undone, and there is no terminal to confirm it at: add --yes to confirm."""


class FolderNotOurs(Invalid):
    """{folder} was not removed, because it also holds {other}: remove the suite's files by hand."""


class NoLabels(Invalid):
    """{file} holds {kind}, and no labels: './stb analyse table {path}' ranks its bots without any service."""


class SecretsWithheld(Invalid):
    """{reason}: add --secrets to print them all the same."""


class OutputNotWritable(Invalid):
    """The result can't be written to {path}: {reason}"""  # noqa: D400 - ends as the reason does


class NotTaskSchemas(Invalid):
    """{path} holds no task schemas: {reason}"""  # noqa: D400 - ends as the reason does


class NotAPartnerSet(Invalid):
    """{file} is not a partner set that can be used: {reason}"""  # noqa: D400 - ends as the reason does


class TooFewDialogues(Invalid):
    """The corpus '{corpus}' has {dialogues} dialogues to learn from, and a pool needs {needed}: name a larger one."""


class OptionsOfLabels(Invalid):
    """Results by the measures of {source} take no {options}: repeat the command without."""


class MeasureNotNamed(Invalid):
    """The ranking by labels takes no {options}: add --measure with the name of a measure, such as fed_overall."""


class NotInReport(Invalid):
    """The report of '{protocol}' has no {what}: use './stb {instead}'."""


class GateNeedsOperator(Invalid):
    """A gate needs the role admin, not the role {role}: see "Gate a new version of a bot" in the documentation."""


class HubPackageMissing(Unavailable):
    """A push needs the package huggingface_hub: pip install huggingface_hub into the environment of ./stb."""


class HubNotReached(Unavailable):
    """The conversations were not pushed to {repository}: {reason}"""  # noqa: D400 - ends as the reason does


class NoServiceForTools(Unavailable):
    """{service} at {url} did not say what it offers: {reason}"""  # noqa: D400 - ends as the reason does
