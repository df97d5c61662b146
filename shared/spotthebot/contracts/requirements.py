"""What a campaign demands of its annotators before and while they work."""

from pydantic import Field

from spotthebot.contracts.wire import Name, Wire


class RequiredTraining(Wire):
    """A training that annotators pass before they get a package."""

    name: Name = Field(description="A stored training for the campaign's protocol, by its name.")
    version: int | None = Field(default=None, ge=1, lt=2**31, description="Null: the newest one.")
    attempts: int = Field(default=1, ge=1, le=20, description="How often an annotator may try.")
