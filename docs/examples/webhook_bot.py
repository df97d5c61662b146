"""A webhook bot that verifies who asks: `SECRET=whsec_... uvicorn webhook_bot:app --port 9000`, then register it.

Needs `pip install fastapi uvicorn standardwebhooks`.
"""

import os

from fastapi import FastAPI, HTTPException, Request
from standardwebhooks import Webhook, WebhookVerificationError

app = FastAPI()
webhook = Webhook(os.environ["SECRET"])


@app.post("/reply")
async def reply(request: Request) -> dict[str, str]:
    """Answer from the turns in the request alone, and keep nothing."""
    try:
        question = webhook.verify(await request.body(), dict(request.headers))
    except WebhookVerificationError as error:
        raise HTTPException(401, "the signature is not right") from error
    turns = question["turns"]
    if not turns:
        return {"text": "Hello! What did you do today?"}
    return {"text": f"You said: {turns[-1]['text'][:200]} Tell me more ({len(turns)} turns so far)."}
