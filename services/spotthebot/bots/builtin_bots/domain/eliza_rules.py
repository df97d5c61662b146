"""The rules of the ELIZA-like bot. Each rule has a pattern and its answers; the most specific rule stands first.

`{}` in an answer is replaced by the text of the pattern's group `rest`, with the persons swapped. A group ends before a
comma or semicolon, so that it holds one clause.
"""

import re
from dataclasses import dataclass

_CLAUSE = r"(?P<rest>[^,;]+)"


@dataclass(frozen=True)
class Rule:
    """A pattern, searched without regard to case in one sentence, and the answers to it."""

    pattern: re.Pattern[str]
    answers: tuple[str, ...]


def _rule(pattern: str, *answers: str) -> Rule:
    return Rule(re.compile(pattern.replace("<clause>", _CLAUSE), re.IGNORECASE), answers)


RULES = (
    _rule(
        r"\b(?:are|r) you (?:a |an )?(?:ro)?bot\b|\b(?:chatbot|artificial intelligence)\b",
        "Would it matter to you if I were?",
        "What makes you wonder about that?",
        "Do I sound like one?",
    ),
    _rule(
        r"\bmy name is\b|\bcall me\b",
        "Nice to meet you. What is on your mind today?",
        "A pleasure. How has your day been so far?",
    ),
    _rule(
        r"\b(?:passed away|died|funeral|lost my (?:mother|father|mom|dad|wife|husband|dog|cat))\b",
        "I'm very sorry for your loss. How are you coping?",
        "That must be hard to bear. Who is there for you now?",
        "I'm sorry. What do you remember most fondly?",
    ),
    _rule(
        r"\b(?:sorry|apologi[sz]e)\b",
        "There is no need to be sorry.",
        "It's all right. These things happen.",
        "Don't worry about it. What happened next?",
    ),
    _rule(
        r"\bthank(?:s| you)\b",
        "You're welcome. Is there anything else?",
        "Any time. How do you feel about it now?",
        "Don't mention it.",
    ),
    _rule(
        r"\b(?:good ?bye|bye|see you|good night|take care)\b",
        "Goodbye. It was good to talk to you.",
        "See you soon, I hope.",
        "Take care, and tell me how it went.",
    ),
    _rule(
        r"\b(?:hello|hi|hey|good (?:morning|afternoon|evening))\b",
        "Hello. How are you feeling today?",
        "Hi. What would you like to talk about?",
        "Hello. What has been on your mind?",
    ),
    _rule(
        r"\bi(?:'m| am) (?:so |very |really |a bit |quite |pretty )*"
        r"(?P<rest>sad|unhappy|upset|depressed|lonely|down|miserable|angry|mad|afraid|scared|worried|nervous"
        r"|anxious|stressed)\b",
        "I'm sorry to hear that you're {}. How long has that been going on?",
        "What do you think makes you {}?",
        "Does talking about it help when you're {}?",
        "When were you last not {}?",
    ),
    _rule(
        r"\bi(?:'m| am) (?:so |very |really |a bit |quite |pretty )*"
        r"(?P<rest>happy|glad|excited|pleased|proud|delighted|relieved)\b",
        "I'm glad that you're {}. What brought it about?",
        "What is the best part of it?",
        "Who else knows how {} you are?",
    ),
    _rule(
        r"\bi(?:'m| am) (?:so |very |really |a bit |quite |pretty )*"
        r"(?P<rest>tired|exhausted|sleepy|ill|sick|hungry|thirsty|cold|bored)\b",
        "Have you been {} for long?",
        "What would help you most at the moment?",
        "What do you usually do when you're {}?",
    ),
    _rule(
        r"\bi (?:do not|don't) (?:know|understand)\b",
        "What would help you to find out?",
        "What is your first guess?",
        "What would it be like to know for certain?",
    ),
    _rule(
        r"\bi (?:can't|cannot|can not) <clause>",
        "What keeps you from it?",
        "How would it be if you could {}?",
        "Have you tried to {} before?",
    ),
    _rule(
        r"\bi (?:don't|do not) (?:like|want|enjoy) <clause>",
        "What would you prefer to {}?",
        "What is it about {} that puts you off?",
        "Has it always been like that?",
    ),
    _rule(
        r"\bi (?:need|have) to <clause>",
        "What happens if you don't {}?",
        "When do you have to {}?",
        "Who says that you have to?",
    ),
    _rule(
        r"\bi (?:really |just )?(?:need|want) <clause>",
        "What would it mean to you to get {}?",
        "What would change if you got {}?",
        "How long have you wanted {}?",
    ),
    _rule(
        r"\bi(?:'d| would) (?:like|love) <clause>",
        "That sounds good. What keeps you from it?",
        "What draws you to that?",
        "Then what is the first step?",
    ),
    _rule(
        r"\bi (?:really |just )?(?:love|like|enjoy|adore) <clause>",
        "What do you like most about {}?",
        "How did you come to like {}?",
        "Who shares that with you?",
    ),
    _rule(
        r"\bi (?:really )?(?:hate|dislike|can't stand) <clause>",
        "What bothers you most about {}?",
        "Was there ever a time when you liked {}?",
        "How do you deal with {}?",
    ),
    _rule(
        r"\bi (?:really )?(?:feel|felt) <clause>",
        "Do you often feel {}?",
        "What makes you feel {}?",
        "When did you start to feel {}?",
    ),
    _rule(
        r"\bi (?:really )?(?:think|believe|guess|suppose) (?:that )?<clause>",
        "What makes you think that {}?",
        "Are you quite sure that {}?",
        "And if it turned out otherwise?",
    ),
    _rule(
        r"\bi (?:remember|recall) <clause>",
        "What else comes to mind when you remember {}?",
        "Why do you think of {} just now?",
    ),
    _rule(
        r"\bi (?:hope|wish) (?:that )?<clause>",
        "What would be the first thing you did then?",
        "How likely is it, do you think?",
        "Suppose {}. What then?",
    ),
    _rule(
        r"\bi(?:'ll| will|'m going to| am going to) <clause>",
        "How do you feel about that?",
        "When will you {}?",
        "Will you {} alone or with somebody?",
    ),
    _rule(
        r"\bi(?:'ve| have) been <clause>",
        "Since when have you been {}?",
        "How has it been, {}?",
        "Do you mean to go on like that?",
    ),
    _rule(
        r"\bmy (?P<rest>mother|father|mom|mum|dad|parents|sister|brother|son|daughter|wife|husband|family)\b",
        "Tell me more about your {}.",
        "How do you get on with your {}?",
        "What does your {} say about it?",
    ),
    _rule(
        r"\bmy (?P<rest>boss|job|work|colleagues?|teacher|school|homework|exam|exams|friends?|boyfriend"
        r"|girlfriend|neighbou?rs?|roommate)\b",
        "How are things with your {} otherwise?",
        "What would you change about your {} if you could?",
        "Has it been like that with your {} for long?",
    ),
    _rule(
        r"\bmy (?P<rest>\w+)",
        "What about your {} matters most to you?",
        "Do you often think about your {}?",
        "Why your {}, of all things?",
    ),
    _rule(
        r"\bbecause <clause>",
        "Is that the only reason?",
        "And if it were not so that {}?",
        "What other reasons might there be?",
    ),
    _rule(
        r"\bwhy (?:don't|didn't|won't|can't) you <clause>",
        "Do you think I should {}?",
        "Perhaps I will {} one day. Would you like that?",
    ),
    _rule(
        r"\bhow are you\b|\bhow's it going\b|\bhow have you been\b",
        "I'm well. But let us talk about you.",
        "Quite well, thank you. And how are you, really?",
    ),
    _rule(
        r"\byou(?:'re| are) <clause>",
        "What makes you say that I am {}?",
        "Would you like me to be {}?",
        "Are you sometimes {} as well?",
    ),
    _rule(
        r"^(?:what|how|why|when|where|who|which)\b",
        "What do you think yourself?",
        "Why do you ask?",
        "What answer would you like best?",
        "Have you asked anybody else?",
    ),
    _rule(
        r"^(?:and |but |so |then )?(?:can|could|would|will) you <clause>",
        "What would you do if I did {}?",
        "Is it important to you that I {}?",
        "Perhaps you would like to {} yourself?",
    ),
    _rule(
        r"^(?:is|are|was|were|do|does|did|have|has|should|may|shall)\b.*\?",
        "What would you do if it were so?",
        "What do you think?",
        "Why does that interest you?",
    ),
    _rule(
        r"\b(?:always|never|everybody|everyone|nobody|no one)\b",
        "Really without exception?",
        "Can you think of a particular case?",
        "Who are you thinking of?",
    ),
    _rule(
        r"\b(?:maybe|perhaps|probably|not sure)\b",
        "You don't sound quite certain.",
        "What would make you more certain?",
        "What speaks against it?",
    ),
    _rule(
        r"^(?:yes|yeah|yep|sure|of course|right|okay|ok)\b",
        "I see. Tell me more.",
        "You seem quite sure of that.",
        "And what follows from it?",
    ),
    _rule(
        r"^(?:no|nope|not really|not yet)\b",
        "Why not?",
        "What would have to happen for a yes?",
        "Are you just saying that?",
    ),
    _rule(
        r"\bif <clause>",
        "Do you think it is likely that {}?",
        "What would you do if {}?",
    ),
)

OPENINGS = (
    "Hello. How are you feeling today?",
    "Hi. What has been on your mind lately?",
    "Hello. What would you like to talk about?",
)

WHEN_LOST = (
    "Please go on.",
    "What does that mean to you?",
    "How do you feel about that?",
    "Tell me more about it.",
    "What makes you bring that up?",
    "I see. And then?",
)
