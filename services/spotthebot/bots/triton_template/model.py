"""Runs inside Triton's Python backend: one dialogue model, whose replies are drawn for all waiting requests at once.

Input `request` and output `reply` hold one JSON text for each element of the batch: a GenerationRequest, and
`{"text": ...}` or `{"error": ...}`. Written into a model repository by `spotthebot.bots.triton_repository`, with the
folder `dialogue_models` beside it.
"""

import importlib
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils  # part of Triton, there when it runs this file


class TritonPythonModel:
    """What Triton calls; its name and methods are given."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the model; what it raises is what Triton answers to the one who wanted it loaded."""
        sys.path.insert(0, str(Path(__file__).parent))
        dialogue_models = importlib.import_module("dialogue_models")
        wanted = {name: value["string_value"] for name, value in json.loads(args["model_config"])["parameters"].items()}
        serving = importlib.import_module("dialogue_models.serving")
        model = dialogue_models.load(wanted["model_directory"], device=wanted["device"], dtype=wanted["dtype"])
        self._answers: Callable[[Sequence[bytes]], list[dict[str, str]]] = partial(serving.answers, model)

    def execute(self, requests: list[Any]) -> list[Any]:
        """Answer what Triton has put together; a request that cannot be answered fails alone."""
        batches = [pb_utils.get_input_tensor_by_name(request, "request").as_numpy() for request in requests]
        answers = iter(self._answers([text for batch in batches for text in batch.reshape(-1)]))
        return [self._response([next(answers) for _ in range(batch.size)], batch.shape) for batch in batches]

    def _response(self, answers: list[dict[str, str]], shape: tuple[int, ...]) -> Any:  # noqa: ANN401 - Triton's own
        texts = np.array([json.dumps(answer).encode() for answer in answers], dtype=np.object_).reshape(shape)
        return pb_utils.InferenceResponse(output_tensors=[pb_utils.Tensor("reply", texts)])
