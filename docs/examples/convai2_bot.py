"""The bot "HF" of ConvAI2, as a webhook: `MODEL=folder uvicorn convai2_bot:app --port 9000`, then register it.

The folder holds a model and a tokenizer of github.com/huggingface/transfer-learning-conv-ai, which writes a persona and
the speakers into the input. Needs `pip install fastapi uvicorn torch transformers`.
"""

import os
from typing import Any

import torch
from fastapi import FastAPI
from transformers import AutoModelForCausalLM, AutoTokenizer

TURNS, TOKENS, TEMPERATURE, TOP_P = 5, 20, 0.7, 0.9  # as that code's `interact.py`
words: Any = AutoTokenizer.from_pretrained(os.environ["MODEL"])
model: Any = AutoModelForCausalLM.from_pretrained(os.environ["MODEL"])  # in evaluation mode
BEGIN, BOT, PARTNER = words.convert_tokens_to_ids(["<bos>", "<speaker1>", "<speaker2>"])
CONTROLS = words.convert_tokens_to_ids(["<bos>", "<eos>", "<speaker1>", "<speaker2>", "<pad>"])
app = FastAPI()


def segments(question: dict[str, Any]) -> list[tuple[int, list[int]]]:
    """Return the tokens of the persona, of the last turns, and of the reply so far, each with its speaker."""
    said = [(BOT if each["speaker"] == question["speaker"] else PARTNER, each["text"]) for each in question["turns"]]
    persona = [BEGIN, *ids(question["persona"] or "")]
    return [(BOT, persona), *((who, [who, *ids(text)]) for who, text in said[-TURNS:]), (BOT, [BOT])]


def ids(text: str) -> list[int]:
    """Return the last tokens of a text; a context of five such texts and a persona fits into 512."""
    return list(words.encode(text, add_special_tokens=False))[-70:]


@app.post("/reply")
def reply(question: dict[str, Any]) -> dict[str, str]:
    """Sample a reply token by token. A reply ends with a control token, and has another one first."""
    chance = torch.Generator().manual_seed(question["seed"])
    parts = segments(question)
    tokens, speakers = [t for _, part in parts for t in part], [who for who, part in parts for _ in part]
    written: list[int] = []
    while len(written) < TOKENS:
        given, types = torch.tensor([tokens + written]), torch.tensor([speakers + [BOT] * len(written)])
        with torch.no_grad():
            logits = model(given, token_type_ids=types).logits[0, -1] / TEMPERATURE
        if not written:
            logits[CONTROLS] = float("-inf")
        shares, order = logits.softmax(-1).sort(descending=True)
        kept = shares * (shares.cumsum(-1) - shares <= TOP_P)
        token = int(order[torch.multinomial(kept, 1, generator=chance)])
        if token in CONTROLS:
            break
        written.append(token)
    return {"text": words.decode(written, skip_special_tokens=True).strip()}
