"""A program: services that record spans, in a process of their own, until its standard input ends.

What records spans changes libraries for the whole process, and so for every other test in it.
"""

import asyncio
import json
import os
import sys

from spotthebot.kit.service.spans import record
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import EAGER_DELIVERIES, run_suite


async def _serve(urls: DatabaseUrls) -> None:
    services = ("bots", "conversations", "annotation")
    async with run_suite(urls, only=services, conversations=EAGER_DELIVERIES) as suite:
        print(json.dumps(suite.urls), flush=True)
        await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    given = json.loads(os.environ["TRACED_DATABASE"])
    provider = record("suite")
    asyncio.run(_serve(DatabaseUrls(owner=given["owner"], app=given["app"])))
    provider.shutdown()


if __name__ == "__main__":
    main()
