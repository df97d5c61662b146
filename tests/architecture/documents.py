"""The OpenAPI documents as they are committed; one test holds each against its service."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "openapi"


def committed_text(service: str) -> str:
    return (FOLDER / f"{service}.json").read_text()


@cache
def committed_document(service: str) -> Any:
    return json.loads(committed_text(service))
