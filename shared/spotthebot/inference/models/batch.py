"""Runs a batch of requests. An unusable request gets an error, and the others get their results."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .protocol import BatchModel


def run_batch(model: BatchModel[Any], requests: Sequence[Mapping[str, Any] | str | bytes]) -> list[Mapping[str, Any]]:
    """Return one result for each request, in order: the model's result, or `{"error": ...}`.

    A request is a JSON object, or its text.
    """
    results: list[Mapping[str, Any]] = [{} for _ in requests]
    parsed: list[tuple[int, Any]] = []
    for position, request in enumerate(requests):
        try:
            parsed.append((position, model.parse(_read(request))))
        except ValueError as error:
            results[position] = {"error": str(error)}
    for position, result in _run(model, parsed):
        results[position] = result
    return results


def _read(request: Mapping[str, Any] | str | bytes) -> Mapping[str, Any]:
    value = json.loads(request) if isinstance(request, str | bytes) else request
    if not isinstance(value, dict):
        message = "a request must be a JSON object"
        raise ValueError(message)  # noqa: TRY004 - as for any other unusable request
    return value


def _run(model: BatchModel[Any], requests: Sequence[tuple[int, Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """Run all requests at once.

    If this fails, run each half, and so on, until the request that causes the failure is alone.
    """
    if not requests:
        return []
    try:
        results = model.run([request for _, request in requests])
    except Exception as error:  # noqa: BLE001 - any error of a model concerns a request, or a batch that is too large
        if len(requests) == 1:
            return [(requests[0][0], {"error": f"{type(error).__name__}: {error}"})]
        half = len(requests) // 2
        return _run(model, requests[:half]) + _run(model, requests[half:])
    return [(position, result) for (position, _), result in zip(requests, results, strict=True)]
