"""What can go wrong when models are run.

Invalid
├── ModelNotLoadable
├── RequestRefused
├── NotAModelFile
├── FileTooLarge
├── DirectoryOutside
├── HostedModelNameNotUsable
└── BatchingNotUsable
NotFound
└── ModelNotInRepository
Conflict
└── HostingMissing
Unavailable
├── WorkerUnavailable
├── TritonNotHere
└── HostFailed
    └── TritonRefused
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound, Unavailable


class ModelNotLoadable(Invalid):
    """The model {model} can't be loaded: {reason}."""


class RequestRefused(Invalid):
    """The model refused: {reason}"""  # noqa: D400 - ends as the model's words do


class NotAModelFile(Invalid):
    """'{name}' is not accepted: a model's files are .safetensors, .json, .txt, .model, .jinja and README.md."""


class FileTooLarge(Invalid):
    """The file '{name}' is too large: at most {largest} bytes are accepted."""


class DirectoryOutside(Invalid):
    """'{directory}' is not a directory below the models folder: name one by its path relative to that folder."""


class HostedModelNameNotUsable(Invalid):
    """'{name}' is not a valid model name: use up to 63 of a-z, 0-9, '-' and '_', the first a letter or digit."""


class BatchingNotUsable(Invalid):
    """A batch holds 1 to 1,024 requests and waits 0 to 1,000,000 microseconds, not {size} and {delay}."""


class ModelNotInRepository(NotFound):
    """There is no model '{name}' in Triton's model repository."""


class HostingMissing(Conflict):
    """{reason}"""  # noqa: D400 - the reason is a sentence


class WorkerUnavailable(Unavailable):
    """{reason}"""  # noqa: D400 - the reason is a sentence


class TritonNotHere(Unavailable):
    """Triton can't run on this machine: {reason}"""  # noqa: D400 - ends as the reason does


class HostFailed(Unavailable):
    """{host} did not do it: {reason}"""  # noqa: D400 - ends as the host's words do


class TritonRefused(HostFailed):
    """Triton answered {status}: {reason}"""  # noqa: D400 - ends as the server's words do

    @property
    def status(self) -> str:
        return str(self.facts["status"])

    @property
    def hangs(self) -> bool:
        """Return whether Triton runs but did not answer in time."""
        return self.status == "DEADLINE_EXCEEDED"
