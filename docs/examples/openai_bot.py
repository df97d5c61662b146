"""A bot behind OpenAI's chat completions: `uvicorn openai_bot:app --port 9000`, base URL http://HOST:9000/v1.

Needs `pip install fastapi uvicorn`. A server that you did not write (vLLM, Ollama, llama.cpp, TGI) needs no code.
"""

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()


class Completion(BaseModel):
    """What is understood of the request."""

    model: str
    messages: list[dict[str, str]]


@app.post("/v1/chat/completions")
async def complete(wanted: Completion) -> dict[str, Any]:
    """Answer the user's last message."""
    said = [message["content"] for message in wanted.messages if message["role"] == "user"]
    text = f"You said: {said[-1][:200]} Tell me more ({len(wanted.messages)} messages so far)."
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return {"id": "1", "object": "chat.completion", "created": 0, "model": wanted.model, "choices": choices}
