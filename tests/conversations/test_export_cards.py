"""The card of an exported data set, and the columns of the export."""

from datetime import date
from uuid import UUID

import pyarrow as pa
import yaml

from spotthebot.contracts.conversations import ExportedConversation, ParticipantKind
from spotthebot.conversations.domain.exports import CardFacts, SourceCorpus, write_card
from spotthebot.kit.exports.arrow import arrow_schema
from tests.factories.exported import exported


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


class TestColumns:
    def test_have_a_type_for_every_field_of_the_export(self):
        schema = arrow_schema(ExportedConversation)
        assert schema.names == list(ExportedConversation.model_fields)
        turn = schema.field("turns").type.value_type
        assert turn.field("said_at").type == pa.timestamp("us", tz="UTC")
        assert turn.field("latency_ms").type == pa.float64()
