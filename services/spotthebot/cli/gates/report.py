"""The report of a gate: Markdown for a pull request, JUnit XML for programs that show tests."""

from xml.etree.ElementTree import Element, SubElement, tostring

from spotthebot.cli.gates.run import GateResult
from spotthebot.kit.text.characters import printable


def sentence(result: GateResult) -> str:
    """Return what the gate found, and how large a loss it could have missed."""
    found = result.difference
    share = f"{found.confidence_level:.3g}"
    if found.high is None or found.low is None or result.detectable is None:
        return f"No regression shown: {result.new} and {result.old} have equal scores in every conversation."
    bounds = f"{found.low:.3g} to {found.high:.3g}, each bound at a confidence of {share}"
    if result.is_regression:
        return (
            f"Regression: {result.new} scores lower than {result.old} by more than the margin of {result.margin:.3g}."
            f" The mean difference is {found.estimate:.3g} ({bounds})."
        )
    return (
        f"No regression shown: {result.new} less {result.old} is {found.estimate:.3g} on average ({bounds}; margin"
        f" {result.margin:.3g}). A loss of {result.detectable:.2g} would be shown with a probability of about 80 %; a"
        " smaller one can be missed."
    )


def markdown(result: GateResult) -> str:
    """Return the report for a pull request."""
    found = result.difference
    openings = f", with {found.openings} openings" if found.openings else ""
    lines = [
        f"## Gate {_code(result.name)}: {'regression' if result.is_regression else 'no regression shown'}",
        "",
        sentence(result),
        "",
        "| | Mean score |",
        "|---|---|",
        f"| old: {_code(result.old)} | {found.baseline:.4g} |",
        f"| new: {_code(result.new)} | {found.score:.4g} |",
        "",
        f"Scores: FED, {_code(found.dimension)}, of {found.pairs} pairs of conversations of one plan{openings}.",
        "",
        f"Method: {found.method}.",
    ]
    return "\n".join(lines) + "\n"


def junit(name: str, result: GateResult | None, fault: str = "") -> str:
    """Return a test suite of one test, which fails with the regression, or has an error if there is no result."""
    failed = result is not None and result.is_regression
    counts = {"tests": "1", "failures": str(int(failed)), "errors": str(int(result is None)), "skipped": "0"}
    suite = Element("testsuite", {"name": "stb gate", **counts})
    case = SubElement(suite, "testcase", {"classname": "stb.gate", "name": printable(name)})
    if result is None:
        SubElement(case, "error", {"message": printable(fault)})
    elif failed:
        SubElement(case, "failure", {"message": sentence(result)}).text = markdown(result)
    else:
        SubElement(case, "system-out").text = markdown(result)
    return tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _code(text: str) -> str:
    """Return a name as code, so that Markdown in it has no effect."""
    return f"`{printable(text).replace('`', chr(39)).replace('|', '/')}`"
