"""Answers to a batch of requests as they arrive over a wire: what is wrong with one fails that one alone."""

import json
from collections.abc import Sequence

from .contract import DialogueModel
from .requests import GenerationRequest


def answers(model: DialogueModel, requests: Sequence[str | bytes]) -> list[dict[str, str]]:
    """Return `{"text": ...}` or `{"error": ...}` for each request, a GenerationRequest as JSON text, in order."""
    results: list[dict[str, str]] = [{} for _ in requests]
    understood: list[tuple[int, GenerationRequest]] = []
    for position, request in enumerate(requests):
        try:
            understood.append((position, _read(request)))
        except ValueError as error:
            results[position] = {"error": str(error)}
    for position, answer in _generated(model, understood):
        results[position] = answer
    return results


def _read(text: str | bytes) -> GenerationRequest:
    value = json.loads(text)
    if not isinstance(value, dict):
        message = "a request must be a JSON object"
        raise ValueError(message)  # noqa: TRY004 - as for any other unusable request
    return GenerationRequest.from_json(value)


def _generated(
    model: DialogueModel, requests: Sequence[tuple[int, GenerationRequest]]
) -> list[tuple[int, dict[str, str]]]:
    """Answer all at once; where that fails, in halves, down to the request that is to blame."""
    if not requests:
        return []
    try:
        texts = model.replies([request for _, request in requests])
    except Exception as error:  # noqa: BLE001 - whatever a model raises is about a request, or about too large a batch
        if len(requests) == 1:
            return [(requests[0][0], {"error": f"{type(error).__name__}: {error}"})]
        half = len(requests) // 2
        return _generated(model, requests[:half]) + _generated(model, requests[half:])
    return [(position, {"text": text}) for (position, _), text in zip(requests, texts, strict=True)]
