"""Secrets at rest: sealed with a key that is given, or kept in a file that only we can read."""

import base64
import stat
import threading
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from spotthebot.kit.crypto.signatures import NotASigningSecret, new_signing_secret, signing_key
from spotthebot.kit.crypto.vault import KeyFileOpen, Unreadable, Vault, vault_from


class TestVault:
    def test_opens_what_it_sealed_and_nothing_shows(self):
        vault = Vault(Fernet.generate_key().decode())
        sealed = vault.seal("sk-secret")
        assert vault.open(sealed) == "sk-secret"
        assert b"sk-secret" not in sealed
        assert vault.seal("sk-secret") != sealed

    def test_a_new_key_in_front_of_the_old_one_still_opens(self):
        old, new = (Fernet.generate_key().decode() for _ in range(2))
        sealed = Vault(old).seal("sk-secret")
        assert Vault(f"{new},{old}").open(sealed) == "sk-secret"
        with pytest.raises(Unreadable):
            Vault(new).open(sealed)

    def test_what_is_no_key_is_refused(self):
        with pytest.raises(ValueError, match="32 url-safe base64"):
            Vault("too short")

    def test_the_file_is_made_for_us_alone_and_kept(self, tmp_path: Path):
        path = tmp_path / "new" / "key"
        sealed = vault_from("", path).seal("sk-secret")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert vault_from("", path).open(sealed) == "sk-secret"
        assert sorted(each.name for each in path.parent.iterdir()) == ["key"]

    def test_the_file_is_made_with_the_folders_above_it(self, tmp_path: Path):
        file = tmp_path / "a" / "b" / "keys"
        vault = vault_from("", file)
        assert vault_from("", file).open(vault.seal("hunter2")) == "hunter2"

    def test_many_who_make_it_at_once_get_one_key(self, tmp_path: Path):
        vaults: list[Vault] = []
        threads = [threading.Thread(target=lambda: vaults.append(vault_from("", tmp_path / "key"))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sealed = vaults[0].seal("x")
        assert [vault.open(sealed) for vault in vaults] == ["x"] * 8

    def test_a_file_that_others_can_read_is_refused(self, tmp_path: Path):
        path = tmp_path / "key"
        path.write_bytes(Fernet.generate_key())
        path.chmod(0o644)
        with pytest.raises(KeyFileOpen, match="chmod 600"):
            vault_from("", path)


class TestSigningKey:
    def test_is_read_as_standard_webhooks_says(self):
        assert len(signing_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")) == 24

    @pytest.mark.parametrize(("length", "is_key"), [(23, False), (24, True), (64, True), (65, False)])
    def test_has_24_to_64_bytes(self, length: int, is_key: bool):
        secret = f"whsec_{base64.b64encode(bytes(length)).decode()}"
        if is_key:
            assert signing_key(secret) == bytes(length)
            return
        with pytest.raises(NotASigningSecret):
            signing_key(secret)

    def test_a_new_secret_has_32_bytes_which_are_others_each_time(self):
        keys = {signing_key(new_signing_secret()) for _ in range(2)}
        assert [len(key) for key in keys] == [32, 32]

    @pytest.mark.parametrize(
        "secret", ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_????", "whsec_c2hvcnQ="]
    )
    def test_something_else_than_a_key_is_refused(self, secret: str):
        with pytest.raises(NotASigningSecret):
            signing_key(secret)
