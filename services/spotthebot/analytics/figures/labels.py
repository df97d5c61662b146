"""How figures write names and numbers."""

from spotthebot.analytics.figures.appearance import LETTER


def short(room: int, size: int) -> str:
    """Return the Vega expression of a label. A long name loses its middle, since its start and end tell names apart.

    >>> short(100, 10)
    "length(datum.label) > 16 ? slice(datum.label, 0, 7) + '…' + slice(datum.label, -8) : datum.label"
    """
    letters = int(room / size / LETTER)
    begin = (letters - 1) // 2
    end = letters - 1 - begin
    shortened = f"slice(datum.label, 0, {begin}) + '…' + slice(datum.label, -{end})"
    return f"length(datum.label) > {letters} ? {shortened} : datum.label"


def room_for(text: str, size: int) -> int:
    """Return the approximate width of a text in pixels.

    >>> room_for("ten letter", 10)
    62
    """
    return round(len(text) * size * LETTER)


def percent(level: float) -> str:
    """Return a confidence level as a percentage.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:g} %"


def two_digits(share: float) -> str:
    """Return a share with two digits, as figures show it.

    >>> two_digits(0.783), two_digits(1.0), two_digits(0.001), two_digits(0.0)
    ('.78', '1', '<.01', '0')
    """
    if 0 < share < 0.005:
        return "<.01"
    return f"{share:.2f}".removeprefix("0") if share not in {0, 1} else f"{share:.0f}"


def set_of_ranks(low: int | None, high: int | None) -> str:
    """Return a bot's best and worst rank.

    >>> set_of_ranks(1, 2), set_of_ranks(3, 3), set_of_ranks(None, None)
    ('1 to 2', '3', 'none')
    """
    if low is None:
        return "none"
    return f"{low}" if low == high else f"{low} to {high}"
