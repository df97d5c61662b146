"""A collection as a data set of a Hugging Face hub."""

import asyncio
import tempfile
import zipfile
from collections.abc import AsyncIterable
from pathlib import Path

from spotthebot.cli.errors import HubNotReached, HubPackageMissing


async def push(archive: AsyncIterable[bytes], repository: str, *, private: bool) -> str:
    """Write the files of an exported data set to a data set's repository, and return its address.

    A new repository is made. Another push adds a commit. The token is huggingface_hub's own: HF_TOKEN, or that of
    `hf auth login`. Raises HubPackageMissing, HubNotReached.
    """
    with tempfile.TemporaryDirectory(prefix="stb-push-") as folder:
        file = Path(folder) / "data-set.zip"
        with file.open("wb") as out:
            async for piece in archive:
                out.write(piece)
        return await asyncio.to_thread(_push, file, Path(folder) / "files", repository, private=private)


def _push(archive: Path, folder: Path, repository: str, *, private: bool) -> str:
    try:
        from httpx2 import HTTPError  # noqa: PLC0415 - it comes with huggingface_hub
        from huggingface_hub import HfApi  # noqa: PLC0415 - it comes with the models, and is slow to import
        from huggingface_hub.errors import HFValidationError  # noqa: PLC0415 - as above
    except ImportError as error:
        raise HubPackageMissing from error
    with zipfile.ZipFile(archive) as files:
        files.extractall(folder)
    api = HfApi(library_name="spotthebot")
    try:
        made = api.create_repo(repository, repo_type="dataset", private=private, exist_ok=True)
        api.upload_folder(
            folder_path=folder, repo_id=made.repo_id, repo_type="dataset", commit_message="Conversations of spotthebot"
        )
    except HFValidationError as error:
        raise HubNotReached(repository=repository, reason="write OWNER/NAME") from error
    except LookupError as error:
        raise HubNotReached(repository=repository, reason=f"{api.endpoint} does not answer as a hub does") from error
    except (HTTPError, OSError, ValueError) as error:
        raise HubNotReached(repository=repository, reason=" ".join(str(error).split())) from error
    return str(made)
