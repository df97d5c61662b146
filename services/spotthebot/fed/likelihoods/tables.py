"""The table of computed likelihoods."""

from datetime import datetime

from sqlalchemy import ARRAY, DateTime, Float, Index, Integer, LargeBinary, func
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.fed.metadata import Base


class LikelihoodRow(Base):
    """A model's likelihoods for a context, in the order of the follow-ups.

    `key` is a hash of model, options and context.
    """

    __tablename__ = "likelihoods"
    __table_args__ = (Index(None, "last_used_at"),)

    key: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    turns_left_out: Mapped[int]
    context_nll: Mapped[float | None] = mapped_column(Float(53))
    predicted_tokens: Mapped[int]
    nlls: Mapped[list[float]] = mapped_column(ARRAY(Float(53)))
    tokens: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    last_used_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    """The time of the last use, with a resolution of a day."""
