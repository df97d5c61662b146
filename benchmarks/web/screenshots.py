"""`python -m benchmarks.web.screenshots`: take the pictures of `docs/images`, of a suite with the demonstration."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from benchmarks.web.pages import sign_in
from benchmarks.web.running import DemoSuite, demo_suite
from spotthebot.clients import AsyncAnnotation, AsyncBots, AsyncConversations
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignState
from spotthebot.contracts.annotation.entries import EntryLinkIn
from spotthebot.contracts.conversations.chats import HumanBotIn
from tests.factories.browser import BROWSER

_FOLDER: Final = Path(__file__).parents[2] / "docs" / "images"
_WIDE, _PHONE = (1280, 800), (390, 844)


@dataclass(frozen=True)
class _Picture:
    """One picture: the file's name, the page, who looks, at which size and in which colours."""

    name: str
    path: str
    role: str | None = None
    size: tuple[int, int] = _WIDE
    scheme: str = "light"


def main() -> None:
    """Take all pictures."""
    with demo_suite() as suite:
        asyncio.run(_take(suite))


async def _take(suite: DemoSuite) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        for picture in await _pictures(suite):
            async with _looking(browser, suite, picture) as page:
                await page.goto(f"{suite.pages_url}{picture.path}", wait_until="networkidle")
                await page.screenshot(path=_FOLDER / f"{picture.name}.png")
        entry = await _entry_link(suite)
        for picture in (
            _Picture("annotate", entry),
            _Picture("annotate-phone", entry, size=_PHONE, scheme="dark"),
        ):
            async with _looking(browser, suite, picture) as page:
                await _annotate(page, f"{suite.pages_url}{picture.path}", _FOLDER / f"{picture.name}.png")
        links = _Picture("chat-links", f"/chats/{await _study(suite)}/links", "admin")
        async with _looking(browser, suite, links) as page:
            chat = await _make_chat_link(page, f"{suite.pages_url}{links.path}", _FOLDER / f"{links.name}.png")
        async with _looking(browser, suite, _Picture("chat", chat)) as page:
            await _chat(page, chat, _FOLDER / "chat.png")
        await browser.close()


async def _pictures(suite: DemoSuite) -> list[_Picture]:
    async with AsyncConversations(suite.conversations_url, suite.keys["admin"]) as conversations:
        page = await conversations.list_conversations(UUID(suite.collection_id), page_size=1).page()
    conversation = f"/conversations/{suite.collection_id}/{page.items[0].id}"
    campaign = f"/campaigns/{suite.campaign_id}"
    return [
        _Picture("home", "/"),
        _Picture("sign-in", "/sign-in", size=_PHONE),
        _Picture("dashboard", campaign, "analyst"),
        _Picture("dashboard-dark", campaign, "analyst", scheme="dark"),
        _Picture("dashboard-phone", campaign, "analyst", size=_PHONE),
        _Picture("campaigns", "/campaigns", "analyst"),
        _Picture("conversations", f"/conversations/{suite.collection_id}", "analyst"),
        _Picture("conversation", conversation, "analyst"),
        _Picture("bots", "/bots", "admin"),
        _Picture("register", "/bots/new", "team"),
        _Picture("leaderboard", "/leaderboard"),
        _Picture("admin", "/admin", "admin"),
        _Picture("admin-campaign", f"/admin/campaigns/{suite.campaign_id}", "admin"),
        _Picture("new-campaign", "/admin/campaigns/new", "admin"),
        _Picture("annotators", f"/admin/campaigns/{suite.campaign_id}/annotators", "admin"),
        _Picture("trainings", "/admin/trainings", "admin"),
        _Picture("audit", f"/admin/campaigns/{suite.campaign_id}/audit", "admin"),
    ]


@asynccontextmanager
async def _looking(browser: Browser, suite: DemoSuite, picture: _Picture) -> AsyncIterator[Page]:
    width, height = picture.size
    context: BrowserContext = await browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if picture.scheme == "dark" else "light",
        locale="en-GB",
    )
    try:
        if picture.role is not None:
            await sign_in(context, suite, picture.role)
        yield await context.new_page()
    finally:
        await context.close()


async def _entry_link(suite: DemoSuite) -> str:
    """Open a campaign over the demonstration's conversations, and return the path of a link into it."""
    async with AsyncAnnotation(suite.annotation_url, suite.keys["admin"]) as annotation:
        campaign = await annotation.create_campaign(
            CampaignIn(
                name="screenshots",
                domain="everyday",
                collections=(UUID(suite.collection_id),),
                protocol="spot_the_bot",
                segments=(2, 3, 5),
                annotations_per_segment=2,
                package_size=20,
            )
        )
        while campaign.state is CampaignState.BUILDING:
            await asyncio.sleep(0.2)
            campaign = await annotation.get_campaign(campaign.id)
        await annotation.open_campaign(campaign.id)
        link = await annotation.create_entry_link(campaign.id, EntryLinkIn(annotator="somebody"))
    return f"/annotate/{campaign.id}?{link.query}"


async def _study(suite: DemoSuite) -> UUID:
    """Open a study in which people chat with two of the demonstration's bots; returns its collection's id."""
    async with AsyncBots(suite.bots_url, suite.keys["admin"]) as bots:
        known = (await bots.list_bots(page_size=2).page()).items
    study = HumanBotIn(mode="human_bot", name="chats", domain="everyday", bots=tuple(bot.id for bot in known))
    async with AsyncConversations(suite.conversations_url, suite.keys["admin"]) as conversations:
        return (await conversations.create_collection(study)).id


async def _make_chat_link(page: Page, url: str, file: Path) -> str:
    """Make a link into a study for one person, and return it."""
    await page.goto(url)
    await page.get_by_label("People", exact=True).fill("somebody")
    await page.get_by_role("button", name="Make links").click()
    made = page.locator("#links", has_text="http")
    link = (await made.inner_text()).split()[-1]
    await page.screenshot(path=file)
    return link


async def _chat(page: Page, link: str, file: Path) -> None:
    """Say something, and wait for the bot's reply."""
    await page.goto(link)
    await page.get_by_role("button", name="Begin").click()
    await page.get_by_label("Write to your partner").fill("Hello! What did you do today?")
    await page.get_by_role("button", name="Send").click()  # unlike Enter, it also says it before the script listens
    await page.locator("#talk .partner").first.wait_for()
    await page.screenshot(path=file)


async def _annotate(page: Page, url: str, file: Path) -> None:
    """Answer the first step, so that both are seen."""
    await page.goto(url, wait_until="networkidle")
    await page.keyboard.press("Escape")  # the instructions, which open by themselves the first time
    await page.keyboard.press("1")
    await page.keyboard.press("9")
    await page.get_by_text("Saved at").wait_for()
    await page.screenshot(path=file)


if __name__ == "__main__":
    main()
