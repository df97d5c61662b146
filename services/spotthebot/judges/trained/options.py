"""The options of a network's training."""

from dataclasses import dataclass

from spotthebot.kit.errors import Invalid


class OptionOutOfRange(Invalid):
    """The option {name} must be {allowed}, and {value} is not."""


@dataclass(frozen=True)
class NetworkOptions:
    """How a network is trained. Of longer segments the last `max_tokens` tokens count."""

    epochs: int = 3
    batch_size: int = 16
    learning_rate: float = 2e-5
    max_tokens: int = 512
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch_size", 1), ("max_tokens", 8), ("seed", 0)):
            if getattr(self, name) < least:
                raise OptionOutOfRange(name=name, allowed=f"at least {least}", value=getattr(self, name))
        if not 0 < self.learning_rate <= 1:
            raise OptionOutOfRange(name="learning_rate", allowed="above 0, at most 1", value=self.learning_rate)
