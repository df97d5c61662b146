"""Runs one model inside Triton's Python backend. The model answers all waiting requests in one batch.

Input `request` and output `reply` hold one JSON text for each element of the batch. The input is a request of the
model's kind, the output is its result or `{"error": ...}`. `spotthebot.inference.triton.repository` writes this file
into a model repository, with a copy of the folder `spotthebot/inference/models` next to it, named `inference_models`.
"""

import gc
import importlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils  # part of Triton, there when it runs this file

Results = Sequence[Mapping[str, Any]]


class TritonPythonModel:
    """The class that Triton calls; Triton defines its name and methods."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the model. If this fails, Triton answers with the exception's text."""
        sys.path.insert(0, str(Path(__file__).parent))
        protocol = importlib.import_module("inference_models.protocol")
        batch = importlib.import_module("inference_models.batch")
        parameters = json.loads(args["model_config"])["parameters"]
        options = {name: value["string_value"] for name, value in parameters.items()}
        where = {"device": options["device"], "dtype": options["dtype"]}
        gc.disable()  # looking for garbage among imported objects took a fifth of the time
        try:
            model = protocol.load(options["kind"], options["model_directory"], **where)
        finally:
            gc.freeze()
            gc.enable()
        self._run: Callable[[Sequence[bytes]], Results] = partial(batch.run_batch, model)

    def execute(self, requests: list[Any]) -> list[Any]:
        """Answer the requests of one batch of Triton.

        A request that cannot be answered gets an error, and the others a result.
        """
        batches = [pb_utils.get_input_tensor_by_name(request, "request").as_numpy() for request in requests]
        results = iter(self._run([text for batch in batches for text in batch.reshape(-1)]))
        return [self._response([next(results) for _ in range(batch.size)], batch.shape) for batch in batches]

    def _response(self, results: Results, shape: tuple[int, ...]) -> Any:  # noqa: ANN401 - Triton's own
        texts = np.array([json.dumps(result).encode() for result in results], dtype=np.object_).reshape(shape)
        return pb_utils.InferenceResponse(output_tensors=[pb_utils.Tensor("reply", texts)])
