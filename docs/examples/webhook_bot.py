"""A complete webhook bot that needs nothing but Python: `python3 webhook_bot.py`.

With a secret in the environment variable SECRET it answers only requests that the suite signed.
"""

import base64
import hmac
import json
import os
import time
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def reply(turns: list[dict[str, str]]) -> str:
    """Answer from the turns alone: nothing is kept between requests."""
    if not turns:
        return "Hello! What did you do today?"
    return f"You said: {turns[-1]['text'][:200]} Tell me more ({len(turns)} turns so far)."


def is_signed(headers: Message, body: bytes) -> bool:
    """Return whether the suite signed the request, less than five minutes ago."""
    key = base64.b64decode(os.environ["SECRET"].removeprefix("whsec_"))
    sent_at = headers.get("webhook-timestamp", "0")
    signed = f"{headers.get('webhook-id')}.{sent_at}.".encode() + body
    right = "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    given = headers.get("webhook-signature", "").split()
    return abs(time.time() - int(sent_at)) < 300 and any(hmac.compare_digest(right, each) for each in given)


class Bot(BaseHTTPRequestHandler):
    """Answers each POST with a reply."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if "SECRET" in os.environ and not is_signed(self.headers, body):
            self.send_error(401, "the signature is not right")
            return
        answer = json.dumps({"text": reply(json.loads(body)["turns"])}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Print no line for each request."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Bot).serve_forever()
