"""What holds for every page: it can be used by everybody, at every width, in light and dark."""

import pytest

from tests.factories.browsing import DESKTOP, SMALLEST, Scheme, Visit, overflow, violations

OPEN_TO_ALL = ("/", "/sign-in", "/nothing-here")


class TestOpenPages:
    @pytest.mark.parametrize("path", OPEN_TO_ALL)
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    async def test_have_no_barrier_and_no_sideways_scrolling(self, visit: Visit, path: str, scheme: Scheme):
        for size in (DESKTOP, SMALLEST):
            page = await visit.open(path, size=size, scheme=scheme)
            assert await violations(page) == []
            assert await overflow(page) == 0
        visit.complaints = [each for each in visit.complaints if "404 (Not Found)" not in each]


class TestSigningIn:
    async def test_leads_where_the_person_was_going_and_signing_out_ends_it(self, visit: Visit):
        page = await visit.sign_in("analyst", after="/nothing-here")
        assert page.url == visit.address("/nothing-here")
        await page.get_by_role("button", name="Sign out").click()
        assert await page.get_by_role("link", name="Sign in", exact=True).is_visible()
        visit.complaints.clear()  # Chromium reports the status 404

    async def test_with_a_wrong_key_says_what_is_wrong_beside_the_field(self, visit: Visit):
        page = await visit.open("/sign-in")
        await page.get_by_label("API key").fill("hello")
        await page.get_by_role("button", name="Sign in").click()
        assert "begins with stb_" in await page.get_by_role("alert").inner_text()
        assert await violations(page) == []
        visit.complaints.clear()  # Chromium reports the status 422


class TestLanguage:
    async def test_is_chosen_once_for_all_pages(self, visit: Visit):
        page = await visit.open("/sign-in")
        await page.get_by_role("button", name="Deutsch").click()
        assert await page.locator("html").get_attribute("lang") == "de"
        assert await page.get_by_role("heading", level=1).inner_text() == "Anmelden"
