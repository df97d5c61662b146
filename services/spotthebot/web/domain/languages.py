"""Which language a page is in: what the person chose, else what their browser asks for."""

from collections.abc import Collection

DEFAULT = "en"


def choose_language(chosen: str | None, accepted: str, known: Collection[str]) -> str:
    """Return a known language: the one chosen before, else the first that `Accept-Language` ranks highest.

    A known language stands for its regions (RFC 4647, section 3.4).
    """
    if chosen in known:
        return str(chosen)
    ranked = sorted(_ranges(accepted), key=lambda each: -each[1])
    for tag, quality in ranked:
        primary = tag.split("-")[0].lower()
        if quality > 0 and primary in known:
            return primary
    return DEFAULT


def _ranges(header: str) -> list[tuple[str, float]]:
    found = []
    for part in header.split(",")[:20]:
        tag, _, quality = part.strip().partition(";q=")
        try:
            found.append((tag, float(quality or 1)))
        except ValueError:
            continue
    return found
