"""A bot that speaks Triton's HTTP (KServe v2): `uvicorn triton_bot:app --port 9000`, transport `http`, model `bot`.

Needs `pip install fastapi uvicorn`. A model on a real Triton needs our model repository instead:
see deploy/compose/triton.md.
"""

import json
from typing import Any

from fastapi import FastAPI

app = FastAPI()


@app.post("/v2/models/bot/infer")
async def infer(asked: dict[str, Any]) -> dict[str, Any]:
    """Answer the JSON in the input `request` with JSON in the output `reply`."""
    wanted = json.loads(asked["inputs"][0]["data"][0])
    turns = wanted["turns"]
    text = f"You said: {turns[-1][:200]} Tell me more ({len(turns)} turns)." if turns else "Hello! How was your day?"
    output = {"name": "reply", "datatype": "BYTES", "shape": [1, 1], "data": [json.dumps({"text": text})]}
    return {"model_name": "bot", "outputs": [output]}
