"""A person signs in and out through an OpenID provider, in a real browser."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
import uvicorn
from cryptography.fernet import Fernet
from oidc_provider_mock import User, run_server_in_thread
from playwright.async_api import Browser, expect
from pydantic import SecretStr

from spotthebot.kit.processes.sockets import bind
from spotthebot.web.app import create_app
from spotthebot.web.settings import WebSettings
from tests.factories.browsing import violations
from tests.factories.running_suite import serve_all

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the provider's own, of Authlib


async def test_a_person_signs_in_and_out_at_the_provider(chromium: Browser, tmp_path: Path):
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"operators": f"stb_admin_{'0' * 32}_{'x' * 43}"}))
    keys.chmod(0o600)
    people = [User(sub="olga", claims={"groups": ["operators"]})]
    with run_server_in_thread(user_claims=people) as provider, closing(bind("127.0.0.1", 0)) as sock:
        home = f"http://127.0.0.1:{sock.getsockname()[1]}"
        settings = WebSettings(
            oidc_issuer=f"http://localhost:{provider.server_port}",
            oidc_client_id="pages",
            oidc_client_secret=SecretStr("secret"),
            oidc_keys_file=keys,
            public_url=home,
            sessions_key=SecretStr(Fernet.generate_key().decode()),
        )
        async with serve_all([(uvicorn.Config(create_app(settings), log_config=None), sock)]):
            page = await chromium.new_page(locale="en-GB")
            await page.goto(f"{home}/sign-in?after=/sign-in")
            assert await violations(page) == []
            await page.get_by_role("link", name="Sign in with your organisation").click()
            await page.get_by_role("button", name="olga").click()
            await page.wait_for_url(f"{home}/sign-in")
            await page.get_by_role("button", name="Sign out").click()
            await expect(page.get_by_role("heading", name="Signed out")).to_be_visible()
            assert await violations(page) == []
            await page.get_by_role("link", name="Sign out there, too").click()
            await page.wait_for_url(re.compile("/oauth2/end_session"))
            await page.close()
