import pytest

from tests.factories.lazy_imports import lazily, needs_models

pytestmark = needs_models
torch = lazily("torch")
functional = lazily("torch.nn.functional")
log_sum_exp = lazily("spotthebot.inference.models.likelihood.log_sum_exp:log_sum_exp")

ROWS, WIDTH, WORDS = 37, 16, 10_000
"""More words than two blocks of 4,096, so that the last block is smaller."""


@pytest.fixture
def hidden():
    return torch.randn(ROWS, WIDTH, generator=torch.Generator().manual_seed(1)) * 8


@pytest.fixture(params=[True, False])
def head(request):
    chance = torch.Generator().manual_seed(2)
    made = torch.nn.Linear(WIDTH, WORDS, bias=request.param).requires_grad_(requires_grad=False)
    for weights in made.parameters():
        weights.normal_(0, 3, generator=chance)
    return made


class TestLogSumExp:
    @pytest.mark.parametrize("max_bytes", [1, 4 * 4096 * 5, 2**30])
    def test_is_that_of_all_logits_however_few_fit_into_memory(self, hidden, head, max_bytes):
        expected = head(hidden).double().logsumexp(1)
        assert log_sum_exp(hidden, head, max_bytes) == pytest.approx(expected.float(), rel=1e-6)

    def test_is_a_number_for_logits_whose_exponential_is_none(self, hidden, head):
        assert head(hidden).max() > 100  # e^89 is the largest of float32
        assert torch.isfinite(log_sum_exp(hidden * 100, head, 2**20)).all()

    def test_holds_no_more_logits_than_it_may(self, hidden, head, monkeypatch):
        held, linear = [], torch.nn.functional.linear

        def counted(*given):
            logits = linear(*given)
            held.append(logits.numel() * 4)
            return logits

        monkeypatch.setattr(torch.nn.functional, "linear", counted)
        log_sum_exp(hidden, head, 4 * 4096 * 5)
        assert max(held) == 4 * 4096 * 5
