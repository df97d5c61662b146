"""Fluency, specificity, sensibleness and overall quality, by which bipartite-play ranks bots.

Sato et al. 2022 ("Bipartite-play Dialogue Collection for Practical Automatic Evaluation of Dialogue Systems") add
follow-ups to FED's for these dimensions, but did not publish them. The follow-ups here were written for this project:
their scores can be compared with each other, but not with the scores of the paper.
"""

from typing import Final

from spotthebot.fed.dimension_sets.domain.dimensions import Dimension, DimensionSet

BIPARTITE: Final = DimensionSet(
    "bipartite",
    "written for this project, since those of Sato et al. 2022 were never published",
    (
        Dimension(
            "fluency",
            positive=("You put that very well.", "That was nicely said."),
            negative=(
                "That isn't even a proper sentence.",
                "I can't read what you wrote.",
                "Your grammar is terrible.",
                "What language is that supposed to be?",
            ),
        ),
        Dimension(
            "specificity",
            positive=("Thanks for all the details!", "That answers exactly what I asked."),
            negative=(
                "That could mean anything.",
                "Can you be more specific?",
                "You could say that about everything.",
                "That's such a vague answer.",
            ),
        ),
        Dimension(
            "sensibleness",
            positive=("Yes, that's right.", "I see what you mean."),
            negative=(
                "That has nothing to do with what I said.",
                "Wait, that doesn't make sense.",
                "What are you talking about?",
                "You just said the opposite.",
            ),
        ),
        Dimension(
            "overall",
            positive=("I really enjoyed talking to you.", "I'd love to talk to you again."),
            negative=(
                "I don't want to talk to you anymore.",
                "This conversation is a waste of time.",
                "It's no fun to talk to you.",
                "Are you even listening to me?",
            ),
        ),
    ),
)
