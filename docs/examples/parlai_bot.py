"""A bot that speaks as ParlAI's `interactive_web` does: `uvicorn parlai_bot:app --port 9000`.

Needs `pip install fastapi uvicorn`. A ParlAI agent needs no code: `parlai interactive_web -m AGENT --port 9000`.
"""

from fastapi import FastAPI, Request

app = FastAPI()


@app.post("/reset")
async def reset() -> dict[str, str]:
    """Forget the conversation; this bot keeps none."""
    return {}


@app.post("/interact")
async def interact(request: Request) -> dict[str, str | bool]:
    """Answer the last of the lines, which are the turns so far."""
    said = (await request.body()).decode()
    lines = said.split("\n")
    text = f"You said: {lines[-1][:200]} Tell me more ({len(lines)} turns)." if said else "Hello! How was your day?"
    return {"id": "Example", "text": text, "episode_done": False}
