"""Hashes of configurations: stable over releases, different wherever a reply may differ."""

from typing import Any

import pytest
from pydantic import Field, TypeAdapter

from spotthebot.bots.bots.domain import _ALWAYS_HASHED, Fingerprints, fingerprint_configuration
from spotthebot.contracts.bots.protocols import Protocol, Sampling, TritonProtocol, WebhookProtocol

CORPUS = "00000000-0000-7000-8000-000000000000"
OPENAI = {"kind": "openai", "base_url": "https://llm.example.org/v1", "model": "llama"}
SAMPLED = {"temperature": 0.8, "stop": ["\n"], "sends_seed": False, "system_prompt": "Du bist ein Gärtner."}
RECORDED: list[tuple[dict[str, Any], Fingerprints, str]] = [
    (
        {"kind": "webhook", "url": "https://bot.example.org/reply"},
        Fingerprints(),
        "5414b4e0814349b541d504d706cb16d025fd22f63201be6bdf983686590ac576",
    ),
    (OPENAI, Fingerprints(), "e2d076381a929d2a3429afb1b7ceb4e1301472e0b2d5f4e61b1280495c304ec1"),
    (OPENAI | SAMPLED, Fingerprints(), "83d782f384a68a36590dada927c5bf5035f169eaf291cf24b4f3a9be349a4520"),
    (
        {"kind": "parlai", "url": "http://parlai.example.org:8080"},
        Fingerprints(),
        "ec7ea52b3dc5e6e02ac4e6141c5cf76a82c0cffa1eb93f2082dc303630638664",
    ),
    (
        {"kind": "triton", "model": "gpt"},
        Fingerprints(files_sha256="b" * 64),
        "4166c81406ed4b1640f30e108b521411cc6034aba7c19ef27ba246004fdd0ac1",
    ),
    (
        {"kind": "triton", "model": "gpt", "url": "http://t.example.org:8001", "sampling": {"temperature": 0.9}},
        Fingerprints(),
        "3efd9e56b2de72e7a92882041ca329b37fa6237c20aa292827c5c115874187fd",
    ),
    (
        {"kind": "transformers", "model": "microsoft/DialoGPT-small"},
        Fingerprints(),
        "6350a1d94cd86ebdffce0fc01fc7f4b68bd2cc0927ee156ed5b3a7ed026e2c7d",
    ),
    (
        {"kind": "builtin", "model": "eliza"},
        Fingerprints(),
        "8d419f908f428ecc03e4a01af3bf1134dae344308dc71cb24f34e44c9ebe5796",
    ),
    (
        {"kind": "builtin", "model": "ngram", "corpus_id": CORPUS, "seed": 3},
        Fingerprints(training_sha256="a" * 64),
        "1af24ca431e5784a473f0c51b240b40cb3514cafe38f95e0320795d9648d968d",
    ),
]
"""Configurations with the hashes that the code before this rule gave them: every field was hashed then."""
_protocols: TypeAdapter[Protocol] = TypeAdapter(Protocol)


class _WebhookOfALaterRelease(WebhookProtocol):
    headers: dict[str, str] = Field(default_factory=dict)
    accepts_markdown: bool = False


class _SamplingOfALaterRelease(Sampling):
    min_p: float | None = None


class _TritonOfALaterRelease(TritonProtocol):
    sampling: Sampling = _SamplingOfALaterRelease()


class TestConfigurationHash:
    @pytest.mark.parametrize(("protocol", "made_from", "recorded"), RECORDED)
    def test_equals_the_one_that_stored_versions_have(
        self, protocol: dict[str, Any], made_from: Fingerprints, recorded: str
    ) -> None:
        assert fingerprint_configuration(_protocols.validate_python(protocol), made_from) == recorded

    def test_stays_when_a_release_adds_optional_fields_to_a_protocol(self) -> None:
        url = "https://bot.example.org/reply"
        later = _WebhookOfALaterRelease(kind="webhook", url=url)
        assert _hash(later) == RECORDED[0][2]
        assert _hash(_WebhookOfALaterRelease(kind="webhook", url=url, accepts_markdown=False)) == RECORDED[0][2]

    def test_stays_when_a_release_adds_optional_fields_to_sampling(self) -> None:
        sampling = _SamplingOfALaterRelease(temperature=0.9)
        later = _TritonOfALaterRelease(kind="triton", model="gpt", url="http://t.example.org:8001", sampling=sampling)
        assert _hash(later) == RECORDED[5][2]

    def test_changes_with_each_value_of_an_added_field(self) -> None:
        url = "https://bot.example.org/reply"
        hashes = {
            _hash(_WebhookOfALaterRelease(kind="webhook", url=url, **more))
            for more in ({}, {"accepts_markdown": True}, {"headers": {"X-A": "1"}}, {"headers": {"X-A": "2"}})
        }
        assert len(hashes) == 4
        sampled = [_SamplingOfALaterRelease(min_p=value) for value in (None, 0.1, 0.2)]
        assert len({_hash(_TritonOfALaterRelease(kind="triton", model="gpt", sampling=each)) for each in sampled}) == 3

    def test_changes_with_each_field_of_the_first_release(self) -> None:
        openai = _protocols.validate_python(OPENAI)
        changes: list[dict[str, Any]] = [
            *({"base_url": "https://x.example.org"}, {"model": "m"}, {"system_prompt": ""}, {"opening_prompt": "Hi."}),
            *({"temperature": 1.0}, {"top_p": 1.0}, {"max_tokens": 1}, {"frequency_penalty": 0.0}),
            *({"presence_penalty": 0.0}, {"stop": ("a",)}, {"sends_seed": False}),
        ]
        assert len({_hash(openai.model_copy(update=change)) for change in ({}, *changes)}) == len(changes) + 1

    def test_changes_with_what_a_version_was_made_from(self) -> None:
        made_from = [Fingerprints(), Fingerprints("a"), Fingerprints("b"), Fingerprints(files_sha256="a")]
        protocol = _protocols.validate_python(RECORDED[0][0])
        assert len({fingerprint_configuration(protocol, each) for each in made_from}) == 4

    def test_always_covers_the_fields_of_the_first_release_and_no_later_ones(self) -> None:
        """A field that is added to a protocol must not be added here: see the module's docstring."""
        assert {name: len(fields) for name, fields in _ALWAYS_HASHED.items()} == {
            "webhook": 3,
            "openai": 12,
            "parlai": 4,
            "triton": 5,
            "transformers": 4,
            "builtin": 5,
            "sampling": 5,
        }


def _hash(protocol: Any) -> str:
    return fingerprint_configuration(protocol, Fingerprints())
