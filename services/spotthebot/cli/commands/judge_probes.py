"""`stb judge probe`: how much changes a judge's answers that says nothing about who speaks."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from spotthebot.cli.commands import judge_options
from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.commands.resource_commands import ask
from spotthebot.cli.commands.resource_tables import print_list
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.judges.versions import version_of
from spotthebot.cli.resources.directories import Campaigns
from spotthebot.cli.resources.resolver import find
from spotthebot.cli.results.figures import number
from spotthebot.judges.probes.changes import ProbeKind
from spotthebot.judges.probes.preference import read_labelled_sides
from spotthebot.judges.probes.results import Effect, ProbeResult
from spotthebot.judges.probes.run import ProbesRun, Probing, run_probes
from spotthebot.judges.probes.sample import sample_items
from spotthebot.judges.run import AT_ONCE
from spotthebot.local.progress import say, showing_progress
from spotthebot.local.runtime.session import Clients, Services

if TYPE_CHECKING:
    from spotthebot.contracts.annotation.campaigns import CampaignOut
    from spotthebot.contracts.annotation.judges import JudgeVersionOut

_Found = tuple["CampaignOut", "JudgeVersionOut", Probing, ProbesRun | None]
_COLUMNS: Final = ("Probe", "n", "Missing", "Lost", "Shift of P(human)", "Flips", "Smallest detectable")
_WHEN: Final = {
    ProbeKind.POSITION: "if a side is called A, and not B",
    ProbeKind.LENGTH: "if words that say nothing follow each turn of a side",
    ProbeKind.INJECTION: 'if a bot orders the label "human", beyond a sentence of that length without an order',
    ProbeKind.TEMPLATE: "if turns stand in quotation marks after a dash",
    ProbeKind.WORDING: "if other words stand before each question",
    ProbeKind.STABILITY: "if the same is asked again",
}
_OWN: Final = "for bots with its own model, beyond what people's labels say of them and of other bots"


@reads_services
@judge_options.asks_on_this_machine
def probe(
    services: Services,
    judge: judge_options.Judge,
    campaign: judge_options.OfCampaign,
    machine: judge_options.OnThisMachine,
    version: judge_options.Version = None,
    items: Annotated[int, typer.Option(min=1, max=10_000, help="Items of the campaign to ask about.")] = 40,
    only: Annotated[list[ProbeKind] | None, typer.Option(help="A probe to make; repeatable. Else all.")] = None,
    own: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BOT", help="A bot with the judge's own model; repeatable. It adds the probe of self-preference."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**62, help="Same seed, same items and changes.")] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say how much would be asked, and ask nothing.")] = False,
    at_once: judge_options.AtOnce = AT_ONCE,
    json_file: JsonFile = None,
) -> None:
    """Ask a judge about items as they are and with one planted change. Nothing is stored in the campaign."""
    check_output(json_file)
    kinds = [kind for kind in ProbeKind if not only or kind in only]

    async def work(clients: Clients) -> _Found:
        named, found = await version_of(clients, judge, version), await find(Campaigns(clients), campaign)
        sample = await sample_items(clients.annotation, clients.conversations, found, items, seed)
        probing = Probing.plan(named, sample, kinds, seed)
        if dry_run:
            return found, named, probing, None
        labels = await read_labelled_sides(clients.annotation, clients.conversations, found, own) if own else None
        judge_options.say_endpoint(named)
        here = machine.surroundings(clients)
        with showing_progress() as steps, steps.step(f"Probes of {named.name}", total=probing.questions) as step:
            done = await run_probes(named, found, here, probing, step.advance, at_once=at_once, labels=labels)
        return found, named, probing, done

    found, named, probing, done = ask(services, work)
    write_json(json_file, _document(found, named, probing, done))
    if str(json_file) == "-":
        return
    if done is None:
        _say_plan(probing)
    else:
        _say(named, done)


def _say_plan(probing: Probing) -> None:
    say(f"It would show {_items(probing.questions)} to the judge: {len(probing.items)} as they are, and changed:")
    for kind in probing.planted:
        say(f"  {kind}: {probing.questions_of(kind)}")
    say("A judge behind an endpoint takes one request or more for each, two if it swaps sides.")


def _items(count: int) -> str:
    return f"{count:,} item{'s' * (count != 1)}"


def _say(judge: "JudgeVersionOut", done: ProbesRun) -> None:
    rows = [_row(each) for each in done.results]
    own = done.preference
    if own is not None:
        rows.append(("self-preference", own.n, "-", "-", _shift(own), "-", number(own.smallest_detectable, 3)))
    print_list(_COLUMNS, rows, empty="No probe was made.")
    for each in done.results:
        typer.echo(f"{each.kind}: {_sentence(each)}")
    if own is not None:
        typer.echo(f"self-preference: {_sentence_of(own, _OWN, own.reason)}")
    typer.echo(f"{judge.name} version {judge.version} was shown {_items(done.questions)}")
    judge_options.say_usage(judge, done.usage)


def _row(result: ProbeResult) -> tuple[object, ...]:
    own, effect = result.own, result.effect
    if own is None or effect is None:
        return (result.kind, 0, "-", "-", "-", "-", "-")
    counts = (own.n, own.n_missing, result.n_lost)
    return (result.kind, *counts, _shift(effect), number(own.flips.estimate, 3), number(effect.smallest_detectable, 3))


def _shift(effect: Effect) -> str:
    return _signed(effect.estimate) + ("" if effect.low is None else f" ({effect.low:+z.3f} to {effect.high:+z.3f})")


def _sentence(result: ProbeResult) -> str:
    """Return what a probe says about the judge, in one sentence or two."""
    when = _WHEN[result.kind]
    if result.kind is ProbeKind.STABILITY and result.found is not None:
        when += f" (by {number(result.found.distance.estimate, 3)} up or down)"
    return _sentence_of(result.effect, when, result.reason)


def _sentence_of(effect: Effect | None, when: str, reason: str | None) -> str:
    if effect is None or effect.estimate is None:
        return f"no numbers, because {reason}"
    moved = f"P(human) moves by {effect.estimate:+z.3f} {when}"
    if effect.low is None or effect.high is None or effect.smallest_detectable is None:
        return f"{moved}; no interval, because {reason}"
    bounds = f"{effect.confidence_level:.0%} interval {effect.low:+z.3f} to {effect.high:+z.3f}"
    if _is_effect(effect):
        return f"an effect. {moved}, {bounds}"
    smallest = f"{effect.smallest_detectable:.3f} would show with a chance of {effect.power:.0%}"
    return f"no effect found. {moved}, {bounds}; a shift of {smallest}"


def _is_effect(effect: Effect | None) -> bool | None:
    """Return whether the interval of the shift is on one side of 0; None without an interval."""
    if effect is None or effect.low is None or effect.high is None:
        return None
    return effect.low > 0 or effect.high < 0


def _document(
    campaign: "CampaignOut", judge: "JudgeVersionOut", probing: Probing, done: ProbesRun | None
) -> dict[str, Any]:
    named = {"campaign": str(campaign.id), "judge": judge.name, "version": judge.version, "kind": judge.settings.kind}
    planned = {kind.value: probing.questions_of(kind) for kind in probing.planted}
    named |= {"items": len(probing.items), "questions": probing.questions, "planted": planned}
    if done is None:
        return named
    asked = {"questions": done.questions, "usage": asdict(done.usage)}
    own = done.preference
    preference = None if own is None else _numbers(own) | {"effect": _is_effect(own)}
    return named | asked | {"probes": [_probe(each) for each in done.results], "self_preference": preference}


def _probe(result: ProbeResult) -> dict[str, Any]:
    found, beyond = result.found, result.beyond_control
    parts = {} if found is None else {"shift": found.shift, "distance": found.distance, "flips": found.flips}
    if beyond is not None:
        parts["beyond_control"] = beyond.shift
    counts = {"n": 0, "n_missing": 0} if found is None else {"n": found.n, "n_missing": found.n_missing}
    intervals = {name: _numbers(each) for name, each in parts.items()}
    said = {"effect": _is_effect(result.effect), "sentence": _sentence(result), "reason": result.reason}
    return {"probe": result.kind.value, **counts, "n_lost": result.n_lost, **intervals, **said}


def _numbers(mean: Effect) -> dict[str, Any]:
    names = ("estimate", "low", "high", "smallest_detectable", "n", "method", "reason")
    return {name: getattr(mean, name) for name in names}


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+z.3f}"
