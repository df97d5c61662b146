"""FED's own dimensions with their published follow-ups: eight dimensions of a turn, ten of a whole dialogue.

From Mehri & Eskenazi 2020, "Unsupervised Evaluation of Interactive Dialog with DialoGPT" (SIGdial). The follow-ups are
copied exactly from the authors' released code (github.com/Shikib/fed, `fed.py`): scores depend on every word. Eight
dimensions have no positive follow-ups in that code.
"""

from typing import Final

from spotthebot.fed.dimension_sets.domain.dimensions import Dimension, DimensionSet

_ORIGIN: Final = "Mehri & Eskenazi 2020, released code"

TURN_LEVEL: Final = (
    Dimension(
        "interesting",
        positive=(
            "Wow that is really interesting.",
            "That's really interesting!",
            "Cool! That sounds super interesting.",
        ),
        negative=(
            "That's not very interesting.",
            "That's really boring.",
            "That was a really boring response.",
        ),
    ),
    Dimension(
        "engaging",
        positive=(
            "Wow! That's really cool!",
            "Tell me more!",
            "I'm really interested in learning more about this.",
        ),
        negative=(
            "Let's change the topic.",
            "I don't really care. That's pretty boring.",
            "I want to talk about something else.",
        ),
    ),
    Dimension(
        "specific",
        positive=(
            "That's good to know. Cool!",
            "I see, that's interesting.",
            "That's a good point.",
        ),
        negative=(
            "That's a very generic response.",
            "Not really relevant here.",
            "That's not really relevant here.",
        ),
    ),
    Dimension(
        "relevant",
        positive=(),
        negative=(
            "That's not even related to what I said.",
            "Don't change the topic!",
            "Why are you changing the topic?",
        ),
    ),
    Dimension(
        "correct",
        positive=(),
        negative=(
            "You're not understanding me!",
            "I am so confused right now!",
            "I don't understand what you're saying.",
        ),
    ),
    Dimension(
        "semantically appropriate",
        positive=(
            "That makes sense!",
            "You have a good point.",
        ),
        negative=("That makes no sense!",),
    ),
    Dimension(
        "understandable",
        positive=(
            "That makes sense!",
            "You have a good point.",
        ),
        negative=(
            "I don't understand at all!",
            "I'm so confused!",
            "That makes no sense!",
            "What does that even mean?",
        ),
    ),
    Dimension(
        "fluent",
        positive=(
            "That makes sense!",
            "You have a good point.",
        ),
        negative=(
            "Is that real English?",
            "I'm so confused right now!",
            "That makes no sense!",
        ),
    ),
)
"""The dimensions that people rated in single turns."""

DIALOGUE_LEVEL: Final = (
    Dimension(
        "coherent",
        positive=(),
        negative=(
            "You're making no sense at all.",
            "You're changing the topic so much!",
            "You are so confusing.",
        ),
    ),
    Dimension(
        "error recovery",
        positive=(),
        negative=(
            "I am so confused right now.",
            "You're really confusing.",
            "I don't understand what you're saying.",
        ),
    ),
    Dimension(
        "consistent",
        positive=(),
        negative=(
            "That's not what you said earlier!",
            "Stop contradicting yourself!",
        ),
    ),
    Dimension(
        "diverse",
        positive=(),
        negative=(
            "Stop saying the same thing repeatedly.",
            "Why are you repeating yourself?",
            "Stop repeating yourself!",
        ),
    ),
    Dimension(
        "depth",
        positive=(),
        negative=(
            "Stop changing the topic so much.",
            "Don't change the topic!",
        ),
    ),
    Dimension(
        "likeable",
        positive=(
            "I like you!",
            "You're super polite and fun to talk to",
            "Great talking to you.",
        ),
        negative=(
            "You're not very nice.",
            "You're not very fun to talk to.",
            "I don't like you.",
        ),
    ),
    Dimension(
        "understand",
        positive=(),
        negative=(
            "You're not understanding me!",
            "What are you trying to say?",
            "I don't understand what you're saying.",
        ),
    ),
    Dimension(
        "flexible",
        positive=(
            "You're very easy to talk to!",
            "Wow you can talk about a lot of things!",
        ),
        negative=(
            "I don't want to talk about that!",
            "Do you know how to talk about something else?",
        ),
    ),
    Dimension(
        "informative",
        positive=(
            "Thanks for all the information!",
            "Wow that's a lot of information.",
            "You know a lot of facts!",
        ),
        negative=(
            "You're really boring.",
            "You don't really know much.",
        ),
    ),
    Dimension(
        "inquisitive",
        positive=(
            "You ask a lot of questions!",
            "That's a lot of questions!",
        ),
        negative=(
            "You don't ask many questions.",
            "You don't seem interested.",
        ),
    ),
)
"""The dimensions that people rated in whole dialogues."""

FED_TURN: Final = DimensionSet("fed-turn", _ORIGIN, TURN_LEVEL)
FED_DIALOGUE: Final = DimensionSet("fed-dialogue", _ORIGIN, DIALOGUE_LEVEL)
FED: Final = DimensionSet("fed", _ORIGIN, (*TURN_LEVEL, *DIALOGUE_LEVEL))
"""All 18 dimensions, which the released code computes for every context."""
