import pytest

from spotthebot.inference.models.errors import SettingUnusable
from tests.factories.lazy_imports import lazily, needs_models

pytestmark = needs_models
Limits = lazily("spotthebot.inference.models.likelihood.limits:Limits")
load = lazily("spotthebot.inference.models.likelihood.kind:load")


class TestLimits:
    def test_are_read_from_the_environment(self, monkeypatch):
        monkeypatch.setenv("SPOTTHEBOT_LIKELIHOOD_MAX_TOKENS_PER_PASS", "77")
        assert Limits.from_environment() == Limits(max_tokens_per_pass=77)
        monkeypatch.setenv("SPOTTHEBOT_LIKELIHOOD_MAX_LOGIT_BYTES", "88")
        assert Limits.from_environment() == Limits(max_tokens_per_pass=77, max_logit_bytes=88)

    def test_unusable_ones_are_refused_when_a_model_is_loaded(self, monkeypatch, tmp_path):
        monkeypatch.setenv("SPOTTHEBOT_LIKELIHOOD_MAX_TOKENS_PER_PASS", "-1")
        with pytest.raises(SettingUnusable, match="MAX_TOKENS_PER_PASS must be a whole number above 0, not '-1'"):
            load(str(tmp_path))
