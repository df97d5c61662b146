"""The errors of running judges.

Invalid
├── JudgeKeyMissing
├── FolderMissing
├── KeyUnencrypted
├── OtherFiles
└── ScoresUnsuited
Conflict
└── EndpointSilent
"""

from spotthebot.kit.errors import Conflict, Invalid


class JudgeKeyMissing(Invalid):
    """The judge '{name}' takes its key from the environment variable {variable}, which is not set here."""


class KeyUnencrypted(Invalid):
    """{url} is not encrypted: a key is sent there only if --allow-network names the network of its address."""


class FolderMissing(Invalid):
    """The judge '{name}' is a trained model: name the folder of its training by --folder."""


class OtherFiles(Invalid):
    """The files in {folder} are not those of version {version} of the judge '{name}': name its folder."""


class ScoresUnsuited(Invalid):
    """The score set {score_set} can't be used: {reason}"""  # noqa: D400 - ends as the reason does


class EndpointSilent(Conflict):
    """The endpoint gave no answer about any of {items} items: {reason} Nothing of them was submitted. Run it again."""
