"""Answers taken apart: what public models put around a reply is removed, and what people write stays as it is."""

import time

import pytest

from spotthebot.bots.questions.domain.answer_parts import LONGEST_ANSWER, AnswerParts, take_apart
from spotthebot.bots.questions.domain.replies import Fault, accepted
from spotthebot.contracts.bots.protocols import Cleaning
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyNote, ReplyOut
from spotthebot.conversations.texts.domain import clean

REPLY = "I had soup for lunch today."
REASONING, ROLE, PARTNER = ReplyNote.REASONING, ReplyNote.ROLE, ReplyNote.PARTNERS_TURN


class TestReasoning:
    @pytest.mark.parametrize(
        "answer",
        [
            f"<think>\nI am an AI.\n</think>\n\n{REPLY}",
            f"I am an AI.\n</think>\n\n{REPLY}",
            f"<think>\n\n</think>\n{REPLY}",
            f"<Think >I am an AI.</THINK>{REPLY}",
            f"<thinking>I am an AI.</thinking>{REPLY}",
            f"<reasoning>I <think>am</think> an AI.</reasoning>{REPLY}",
            f"<reason>I am an AI.</reason>{REPLY}",
            f"<plan>I am an AI.</plan>{REPLY}",
            f"<thought_process>I am an AI.</thought_process>{REPLY}",
            f"<inner_thoughts>I am an AI.</inner_thoughts>{REPLY}",
            f"<seed:think>I am an AI.</seed:think>{REPLY}",
            f"[THINK]I am an AI.[/THINK]{REPLY}",
            f"◁think▷I am an AI.◁/think▷{REPLY}",
            f"&lt;think&gt;I am an AI.&lt;/think&gt;{REPLY}",
            f"<|START_THINKING|>I am an AI.<|END_THINKING|><|START_RESPONSE|>{REPLY}<|END_RESPONSE|>",
            f"<|begin_of_thought|>AI<|end_of_thought|>\n<|begin_of_solution|>{REPLY}<|end_of_solution|>",
            f"<think>I am an AI.</think><answer>{REPLY}</answer>",
            f"<|channel|>analysis<|message|>AI<|end|><|start|>assistant<|channel|>final<|message|>{REPLY}<|return|>",
            f"analysisThe user greets an AI.assistantfinal{REPLY}",
            f"<unused94>thought\nI am an AI.<unused95>{REPLY}",
            f"```thinking\nI am an AI.\n```\n{REPLY}",
            f"Here is my thought process: I am an AI.\nHere is my response: {REPLY}",
            f"**Thought:** I am an AI.\n**Final answer:** {REPLY}",
        ],
    )
    def test_closed_reasoning_is_removed(self, answer: str):
        parts = take_apart(answer)
        assert (parts.reply, parts.notes, parts.open_reasoning) == (REPLY, (REASONING,), None)

    @pytest.mark.parametrize(
        "answer",
        [
            "<think>\nI am an AI, and I",
            f"{REPLY}\n<think>I am an AI",
            "[THINK]I am an AI",
            "<|channel|>analysis<|message|>I am an AI",
            "analysisThe user greets an AI",
            "```thinking\nI am an AI",
            "Here is my thought process: I am",
            "Thought: I am an AI, I should pretend to be human.",
            "**Reasoning:** I am an AI",
        ],
    )
    def test_reasoning_that_nothing_closes_is_reported(self, answer: str):
        parts = take_apart(answer)
        assert parts.open_reasoning is not None
        assert parts.notes == (REASONING,)

    def test_leaves_nothing_to_read_of_itself(self):
        for answer in ("<think>I am an AI.</think>", "<think>I am an AI", "I am an AI.</think>"):
            assert "AI" not in take_apart(answer).reply


class TestRoles:
    @pytest.mark.parametrize(
        "answer",
        [
            f"Assistant: {REPLY}",
            f"**Assistant:** {REPLY}",
            f"### Assistant: {REPLY}",
            f"[Assistant]: {REPLY}",
            f"assistant\n\n{REPLY}",
            f"<|im_start|>assistant\n{REPLY}",
            f"<|start_header_id|>assistant<|end_header_id|>\n\n{REPLY}",
            f"AI: {REPLY}",
            f"B: {REPLY}",
            f"Model: {REPLY}",
            f"GPT-4: {REPLY}",
            f"### Response:\n{REPLY}",
            f"<s>Assistant: {REPLY}</s>",
            f"Human: {REPLY}",
            f"Speaker B: {REPLY}",
            f"助手：{REPLY}",  # noqa: RUF001 - a wide colon
        ],
    )
    def test_before_a_reply_are_removed(self, answer: str):
        parts = take_apart(answer)
        assert (parts.reply, parts.notes) == (REPLY, (ROLE,))

    @pytest.mark.parametrize(
        "after",
        [
            "\nUser: And you?\nAssistant: I am fine too.",
            "\n\nHuman: And you?",
            " User: And you? Assistant: Fine.",
            "\n**User:** And you?",
            "\nuser\nAnd you?",
            "\n<|im_start|>user\nAnd you?",
            "<|user|>And you?",
            "[INST] And you? [/INST]",
            "<start_of_turn>user\nAnd you?",
            "</s><s>[INST] And you? [/INST] Fine.</s>",
            "<|im_end|>\n<|im_start|>user\nAnd you?<|im_end|>",
            "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd you?",
            "<|endoftext|>And you?",
            "\n### Instruction:\nAnd you?",
            "\nA: And you?\nB: Fine.",
            "\nYou: And you?",
            "\nQ: And you?\nA: Fine.",
        ],
    )
    def test_a_role_that_begins_the_partners_turn_ends_the_reply(self, after: str):
        parts = take_apart(REPLY + after)
        assert (parts.reply, parts.notes) == (REPLY, (PARTNER,))

    @pytest.mark.parametrize(
        "end", ["</s>", "<|im_end|>", "<|eot_id|>\n", "<|endoftext|>", "<end_of_turn>\n", "</s></s>"]
    )
    def test_tokens_that_only_end_a_reply_are_left_for_who_keeps_the_raw_text(self, end: str):
        assert take_apart(REPLY + end) == AnswerParts(REPLY + end)
        assert clean(REPLY + end) == REPLY

    def test_roles_of_a_transcript_lead_to_its_own_turn(self):
        parts = take_apart(f"User: Hello!\nAssistant: {REPLY}\nUser: Bye!")
        assert (parts.reply, parts.notes) == (REPLY, (PARTNER,))


class TestWhatPeopleWrite:
    @pytest.mark.parametrize(
        "text",
        [
            "I told the user: no way.",
            "I <3 you, and a < b; see [sic] and `x`.",
            "[thinking] Hmm, tea?",
            "Analysis is my favourite subject.",
            "analysis: I like it",
            "Two things:\nFirst: tea.\nSecond: coffee.",
            "My car?\nModel: an old one.",
            "I drink <s>tea</s> coffee.",
            "Thoughts: a fine idea!",
            "Plan B: we walk.",
            "Is it A:B or B:A?",
            "<b>Tea!</b>",
            "I think </3 is sad.",
            "Humans: strange people.",
            "  blanks stay  ",
            "أنا: من برلين",
        ],
    )
    def test_stays_as_it_is(self, text: str):
        parts = take_apart(text)
        assert (parts.reply, parts.notes, parts.open_reasoning) == (text, (), None)


class TestCleaning:
    @pytest.mark.parametrize(
        ("answer", "cleaning", "text", "failure"),
        [
            (f"<think>AI</think>{REPLY}", "remove", REPLY, None),
            (f"<think>AI</think>{REPLY}", "refuse", None, ReplyFailure.INVALID),
            (f"<think>AI</think>{REPLY}", "keep", f"<think>AI</think>{REPLY}", None),
            ("<think>AI", "remove", None, ReplyFailure.INVALID),
            ("<think>AI", "keep", "<think>AI", None),
            ("<think>AI</think>", "remove", None, ReplyFailure.EMPTY),
            (f"Assistant: {REPLY}", "refuse", None, ReplyFailure.INVALID),
            (f"<think>{'a' * 5000}</think>{REPLY}", "remove", REPLY, None),
            ("a" * (LONGEST_ANSWER + 1), "remove", None, ReplyFailure.TOO_LONG),
            (f"<think>AI</think>{REPLY}", None, f"<think>AI</think>{REPLY}", None),
        ],
    )
    def test_decides(self, answer: str, cleaning: Cleaning | None, text: str | None, failure: ReplyFailure | None):
        if failure is None:
            assert accepted(ReplyOut.said(answer), 2000, cleaning).text == text
            return
        with pytest.raises(Fault) as refused:
            accepted(ReplyOut.said(answer), 2000, cleaning)
        assert refused.value.failure is failure

    def test_names_the_reason_of_an_empty_reply(self):
        with pytest.raises(Fault, match="empty: finish_reason is length"):
            accepted(ReplyOut.said(" ", detail="finish_reason is length"), 2000, "remove")
        with pytest.raises(Fault, match="nothing but reasoning"):
            accepted(ReplyOut.said("<think>AI</think>"), 2000, "remove")


class TestTime:
    @pytest.mark.parametrize(
        "part",
        [
            "<",
            "< ",
            "<think>",
            "</think>",
            "</s>",
            "<s></s>",
            "\nA: ",
            "<|channel|>analysis ",
            "\n```think\nx",
            "\n[[[ ",
            "\nuser (",
            "a. ",
            "**",
        ],
    )
    def test_grows_no_faster_than_the_answer(self, part: str):
        def seconds(characters: int) -> float:
            text = part * (characters // len(part))
            started = time.process_time()
            take_apart(text)
            return time.process_time() - started

        quarter = max(min(seconds(LONGEST_ANSWER // 4) for _ in range(3)), 1e-3)
        assert min(seconds(LONGEST_ANSWER) for _ in range(3)) / quarter < 12  # 4 if linear, 16 if quadratic
