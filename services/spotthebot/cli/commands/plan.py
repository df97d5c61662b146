"""`stb plan`: computes how many conversations or dialogues and annotators a study needs, without any service."""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import ValidationError
from rich.console import Console

from spotthebot.cli.commands.option_groups import Command, adding
from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.results.tables import Table
from spotthebot.contracts.analytics.analyses import PlanningIn
from spotthebot.contracts.analytics.costs import CostIn
from spotthebot.contracts.analytics.rating_plans import EffectPlan, RatingPlanningIn
from spotthebot.kit.text.validation import faults_of
from spotthebot.local.planning import plan_evaluation_cost, plan_preference_study, plan_rating_study
from spotthebot.local.progress import say

Request = TypeVar("Request", PlanningIn, RatingPlanningIn, CostIn)
_ARGUMENTS = ("kind", "effects", "win_rates")
"""The fields of requests that are no options."""


def _takes_design(request: type[PlanningIn | RatingPlanningIn | CostIn]) -> Callable[[Command], Command]:
    """Return a decorator that adds the fields of a request as options. Their values are the argument `design`."""

    def design(**options: object) -> dict[str, Any]:
        return options

    vars(design)["__signature__"] = Signature(
        [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=Annotated[field.annotation, typer.Option(help=field.description)],
            )
            for name, field in request.model_fields.items()
            if name not in _ARGUMENTS
        ]
    )
    return adding(design, "design")


@_takes_design(PlanningIn)
def plan_win_rates(
    win_rates: Annotated[list[float], typer.Argument(help="The better bot's win rate, for each pair to tell apart.")],
    design: dict[str, Any],
    json_file: JsonFile = None,
) -> None:
    """Plan the conversations and annotators of a study of preferences, such as Spot The Bot."""
    check_output(json_file)
    plan = plan_preference_study(_request(PlanningIn, win_rates=tuple(win_rates), **design))
    write_json(json_file, plan.model_dump(mode="json"))
    if str(json_file) == "-":
        return
    table = Table("A pair's win rate", "Conversations a pair", "Annotators", title=f"Plan for power {plan.power:g}")
    for pair in plan.pairs:
        table.add_row(f"{pair.win_rate:g}", _shown(pair.conversations), _shown(pair.annotators))
    table.caption = _correlations("conversation", plan.conversation_correlation, plan.annotator_correlation)
    Console().print(table)
    each, share = plan.annotations_per_conversation, plan.annotations_per_annotator
    by_one = "" if share is None else f", {share:g} by each annotator"
    say(f"Assumed: {each:g} annotations of each conversation, {plan.tie_rate:.0%} ties{by_one}.")
    if plan.conversations_per_pair is not None:
        conversations = plan.conversations_per_pair * len(plan.pairs)
        pairs = f"{len(plan.pairs)} pair{'s' if len(plan.pairs) != 1 else ''}"
        say(
            f"In all, for {pairs}: {conversations:,} conversations, {conversations * each:,.0f}"
            f" annotations, {_shown(plan.annotators)} annotators."
        )
    for pair in plan.pairs:
        if pair.reason:
            say(f"No plan for a win rate of {pair.win_rate:g}: {pair.reason}.")


@_takes_design(RatingPlanningIn)
def plan_ratings(
    effects: Annotated[
        list[float], typer.Argument(metavar="D...", help="Cohen's d: differences of means in standard deviations.")
    ],
    design: dict[str, Any],
    json_file: JsonFile = None,
) -> None:
    """Plan the dialogues and annotators of a study of ratings, or compute its power."""
    _plan([{"kind": "rating", "d": effect} for effect in effects], design, json_file)


@_takes_design(RatingPlanningIn)
def plan_behaviours(
    share: Annotated[float, typer.Argument(help="The share of one bot's turns, or dialogues, with the behaviour.")],
    other_share: Annotated[float, typer.Argument(help="The share of another bot.")],
    design: dict[str, Any],
    json_file: JsonFile = None,
) -> None:
    """Plan the dialogues and annotators of a study of behaviours, or compute its power."""
    _plan([{"kind": "behaviour", "share": share, "other_share": other_share}], design, json_file)


@_takes_design(CostIn)
def plan_cost(design: dict[str, Any], json_file: JsonFile = None) -> None:
    """Compare the hours of two designs: people annotate conversations of bots, or people chat with each bot."""
    check_output(json_file)
    found = plan_evaluation_cost(_request(CostIn, **design))
    write_json(json_file, found.model_dump(mode="json"))
    if str(json_file) == "-":
        return
    is_paid = found.annotation_cost > 0
    table = Table("Design", "Hours", *["Cost"] * is_paid, title=f"{design['bots']} bots")
    for name, hours, cost in (
        ("people annotate all pairs", found.annotation_hours, found.annotation_cost),
        ("people chat with all bots", found.chatting_hours, found.chatting_cost),
    ):
        table.add_row(name, f"{hours:.1f}", *[f"{cost:.2f}"] * is_paid)
    Console().print(table)
    if found.cheaper_up_to < 2:
        say("Chatting costs less with any number of bots.")
    else:
        say(f"Annotation costs no more with up to {found.cheaper_up_to:,} bots.")


def _plan(effects: Sequence[Mapping[str, object]], design: Mapping[str, Any], json_file: Path | None) -> None:
    check_output(json_file)
    plan = plan_rating_study(_request(RatingPlanningIn, effects=effects, **design))
    write_json(json_file, plan.model_dump(mode="json"))
    if str(json_file) == "-":
        return
    columns = ("Effect", "Dialogues a bot", "Annotators", "Power", "Design effect")
    table = Table(*columns, title=f"Plan for {plan.bots} bots")
    for each in plan.effects:
        figures = (each.dialogues, each.annotators, each.power, each.design_effect)
        table.add_row(_effect(each), *map(_shown, figures))
    table.caption = _correlations("dialogue", plan.dialogue_correlation, plan.annotator_correlation)
    Console().print(table)
    for each in plan.effects:
        if each.reason:
            say(f"No plan for {_effect(each)}: {each.reason}.")
    if plan.annotations_per_annotator == 1:
        say("Each annotator annotates one dialogue: plan for fewer annotators with --annotators.")


def _request(model: type[Request], **fields: Any) -> Request:  # noqa: ANN401 - any field
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise typer.BadParameter(faults_of(error)[0]) from None


def _effect(plan: EffectPlan) -> str:
    return f"d = {plan.d:.3g}" if plan.share is None else f"shares of {plan.share:g} and {plan.other_share:g}"


def _correlations(clusters: str, within: float, annotators: float) -> str:
    return f"Correlation within a {clusters} {within:g}, within an annotator {annotators:g}"


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.2f}"
