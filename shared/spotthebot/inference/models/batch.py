"""Results of a batch of requests as they arrive over a wire: a bad request fails alone."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .protocol import BatchModel


def run_batch(model: BatchModel[Any], requests: Sequence[str | bytes]) -> list[Mapping[str, Any]]:
    """Return the model's result or `{"error": ...}` for each request, a JSON object as text, in order."""
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


def _read(text: str | bytes) -> Mapping[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        message = "a request must be a JSON object"
        raise ValueError(message)  # noqa: TRY004 - as for any other unusable request
    return value


def _run(model: BatchModel[Any], requests: Sequence[tuple[int, Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """Run all requests at once; where that fails, in halves, down to the request that is to blame."""
    if not requests:
        return []
    try:
        results = model.run([request for _, request in requests])
    except Exception as error:  # noqa: BLE001 - whatever a model raises is about a request, or about too large a batch
        if len(requests) == 1:
            return [(requests[0][0], {"error": f"{type(error).__name__}: {error}"})]
        half = len(requests) // 2
        return _run(model, requests[:half]) + _run(model, requests[half:])
    return [(position, result) for (position, _), result in zip(requests, results, strict=True)]
