"""The errors of the values of a table, of its ranking and of its assessment."""

from spotthebot.kit.errors import Invalid


class MappingNotConfirmed(Invalid):
    """The columns were guessed and there is no terminal to confirm them: add --yes, or {mapping}."""

    title = "Not confirmed"


class ValuesUnknown(Invalid):
    """No value of column '{column}' is a {kind} ({found}): say what they mean, such as --values {example}."""

    title = "Values unknown"


class NumbersNameWinner(Invalid):
    """The numbers of column '{column}' ({found}) can name the winner in two ways: say it with --values {examples}."""

    title = "Winners unclear"


class WinnerIsBotOrSide(Invalid):
    """In column '{column}', {found} can be a bot's name or a side or a tie: say --winners names or --winners sides."""

    title = "Winners unclear"


class OneBotInTable(Invalid):
    """{file} holds only the bot {bot}: a ranking needs at least two bots."""

    title = "One bot only"


class OutcomeUnknown(Invalid):
    """{file} has no measure '{outcome}' to assess the others by: its measures are {known}."""

    title = "Outcome unknown"


class OutcomeNotRated(Invalid):
    """Nobody rated '{outcome}' in {file}, so no measure can be assessed by it: choose one of {known}."""

    title = "Outcome not rated"


class NoMeasures(Invalid):
    """{file} rates '{outcome}' and nothing else: name the columns of measures, such as --map value.NAME=COLUMN."""

    title = "Nothing to assess"


class VotesNotAssessed(Invalid):
    """{file} is a table of votes, and --assess needs ratings: give each bot's measures and 1 or 0 for the preferred."""

    title = "Not ratings"


class AnnotatorsUnknown(Invalid):
    """{file} has no column of annotators, which clusters by annotator need: name it with --map annotator=COLUMN."""

    title = "Annotators unknown"


class MissingCoded(Invalid):
    """{count} {dimension} values are {code}, others {others}: drop {code} by --scale {without}, keep it by {scale}."""

    title = "Missing ratings"
