"""The card of an exported data set, and the columns of the export."""

from collections.abc import Iterator, Sequence
from datetime import date
from uuid import UUID

import pyarrow as pa
import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from spotthebot.contracts.conversations.conversations import ParticipantKind
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.conversations.exports.domain import CardFacts, SourceCorpus, write_card
from spotthebot.kit.exports.parquet import arrow_schema
from tests.factories.exported import exported

NASTY = [
    "# heading",
    "- item",
    "1. first",
    "2) second",
    "[click](javascript:alert(1))",
    "![x](https://example.org/pixel.png)",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a | b | c",
    "`code`",
    "*bold* _it_ ~~gone~~",
    "&lt;b&gt;",
    "---",
    "\\",
    "<https://example.org>",
]


def _facts(name: str) -> CardFacts:
    speaker = exported(0).participants[0].model_copy(update={"name": name})
    return CardFacts(
        name=name,
        domain="everyday",
        mode="all_play_all",
        collection_id=str(UUID(int=7)),
        started=date(2026, 11, 21),
        conversations=1,
        settings={"opening": name},
        participants=[speaker],
        corpora=[SourceCorpus(name, name, name)],
        software="spotthebot 0",
    )


def _leaves(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.children:
            yield from token.children
        else:
            yield token


def _shape(tokens: Sequence[Token]) -> list[str]:
    """Return the kinds of everything but text: an escaped character may split a text in two."""
    return [each.type for each in _leaves(tokens) if each.type not in {"text", "text_special"}]


def _card(conversations: int) -> str:
    facts = CardFacts(
        name='Everyday: "1" | {x}\nnext',
        domain="everyday",
        mode="all_play_all",
        collection_id=str(UUID(int=7)),
        started=date(2026, 11, 21),
        conversations=conversations,
        settings={"exchanges": 2, "seed": 7},
        participants=exported(0).participants,
        corpora=[SourceCorpus("sample", "Written for\nthis.", "Apache-2.0")],
        software="spotthebot 0",
    )
    return write_card(facts)


class TestCard:
    def test_is_valid_yaml_and_prose_for_any_name_of_a_collection(self):
        _, metadata, prose = _card(5).split("---\n", 2)
        read = yaml.safe_load(metadata)
        assert read["pretty_name"] == 'Everyday: "1" | {x} next'
        assert read["size_categories"] == ["n<1K"]
        assert read["configs"][0]["data_files"] == [{"split": "train", "path": "data/train-*.parquet"}]
        assert "- sample: Written for this. Licence: Apache-2.0." in prose
        assert f"| ann | {ParticipantKind.BOT} |" in prose
        assert "| seed | 7 |" in prose

    @pytest.mark.parametrize("name", NASTY)
    def test_shows_names_as_they_are_and_lets_none_be_markup(self, name: str):
        """Rendered as GitHub and the Hugging Face hub do, each name is text: no heading, link, image, cell or HTML."""
        _, metadata, prose = write_card(_facts(name)).split("---\n", 2)
        assert yaml.safe_load(metadata)["pretty_name"] == name
        rendered = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(prose)
        plain = (
            MarkdownIt("commonmark")
            .enable(["table", "strikethrough"])
            .parse(write_card(_facts("plain")).split("---\n", 2)[2])
        )
        assert _shape(rendered) == _shape(plain)
        texts = ["".join(part.content for part in each.children or ()) for each in rendered if each.type == "inline"]
        assert [text for text in texts if text == name] == [name] * 3  # the title, a setting, a speaker
        assert f"{name}: {name} Licence: {name}." in texts


class TestColumns:
    def test_have_a_type_for_every_field_of_the_export(self):
        schema = arrow_schema(ExportedConversation)
        assert schema.names == list(ExportedConversation.model_fields)
        turn = schema.field("turns").type.value_type
        assert turn.field("said_at").type == pa.timestamp("us", tz="UTC")
        assert turn.field("latency_ms").type == pa.float64()
