import time

import pytest

from spotthebot.conversations.texts.domain import clean
from tests.factories.tiny_models import tokenizer

DEBRIS = {
    "hello there </s><pad><pad>": "hello there",  # Lost in Conversation, in the published dump
    "Sure.<|endoftext|>": "Sure.",
    "<|endoftext|>": "",
    "Hi<|im_end|>\n<|im_start|>assistant\nHow are you?": "Hi\nHow are you?",
    "<|start_header_id|>assistant<|end_header_id|>\n\nHello!<|eot_id|>": "Hello!",
    "<start_of_turn>model\nHello!<end_of_turn>": "Hello!",
    "<s> [INST] hi [/INST] good morning </s>": "hi good morning",
    "i like <unk>.": "i like.",
    "a [PAD] b [SEP]": "a b",
    "[CLS] see you [SEP]": "see you",
    "__start__ hi __end__ __null__": "hi",
    "__unk__ is my name": "is my name",
    "Hey! _POTENTIALLY_UNSAFE__": "Hey!",
    "<BOS> good <EOS>": "good",
    "play ##ing chess": "playing chess",
    "play@@ ing che@@ ss foo@@": "playing chess foo",
    "▁Hello▁there": "Hello there",
    "ĠHello,Ġhow are you?ĊFine.": "Hello, how are you?\nFine.",
    "TwoĠcafÃ©s": "Two cafés",
}
CLEAN = (
    "",
    "Fine, thanks.",
    "  two  spaces are nobody's debris ",
    "I <3 you, and a < b > c",
    "Use <html> or <b>bold</b>, or [sic], or [PADDING]",
    "snake_case and __init__ stay, so do _these_",
    "# A heading ## and another",
    "write to me @@home or at me@example.org",
    "▁▂▃▅▇ is a chart",
    "Ġorġ u Ċensa jgħixu hawn",
    "Ünïcödé — “quotes” …",
    "list[CLS_NAME] and [pad]",
)


class TestClean:
    @pytest.mark.parametrize(("text", "cleaned"), DEBRIS.items())
    def test_removes_debris(self, text, cleaned):
        assert clean(text) == cleaned

    @pytest.mark.parametrize("text", CLEAN)
    def test_leaves_text_that_people_type(self, text):
        assert clean(text) is text

    @pytest.mark.parametrize("text", DEBRIS)
    def test_changes_nothing_the_second_time(self, text):
        assert clean(clean(text)) == clean(text)

    def test_decodes_byte_level_tokens_as_their_tokenizer_does(self):
        words = tokenizer()
        text = "Is it naïve? 日本語 ok"
        tokens = words.convert_ids_to_tokens(words.encode(text))
        assert clean("".join(tokens)) == text == words.decode(words.encode(text))

    @pytest.mark.parametrize("text", [f"{' ' * 20_000}<x", f"{chr(10) * 20_000}<", "[ " * 10_000, "<|" * 10_000])
    def test_takes_no_time_for_the_longest_replies(self, text):
        began = time.process_time()
        clean(text)
        assert time.process_time() - began < 0.5, "it was 17 s where each blank was tried as the beginning of a run"
