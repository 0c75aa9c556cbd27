"""Thoughts in tags are told apart from the words of a reply, however the text is cut into pieces."""

from __future__ import annotations

import pytest

from core.kernel.values.messages import Part, ReasoningPart, TextPart
from core.services.providers.thought_tags import WORDS_BEFORE, TaggedText, parted

SPLIT = [
    ("<think>Hm.</think>Yes.", "Hm.", "Yes."),
    ("\n<think>\nHm.\n</think>\n\nYes.\n", "Hm.", "Yes.\n"),
    ("<reasoning>One.</reasoning><reasoning> Two.</reasoning>Yes.", "One. Two.", "Yes."),
    ("[THINK]a < b[/THINK]Yes.", "a < b", "Yes."),
    ("<scratch_pad>Hm.</scratch_pad>Yes.", "Hm.", "Yes."),
    ("◁think▷Hm.◁/think▷Yes.", "Hm.", "Yes."),
    ("<thinking>It says </think> here.</thinking>Yes.", "It says </think> here.", "Yes."),
    (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
        "Hm.",
        "Yes.",
    ),
    ("<|channel|>final<|message|>Yes.", "", "Yes."),
    ("<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Yes.", "Hm.", "Yes."),
    ("<|channel>thought\nHm.\n<channel|>Yes.", "Hm.", "Yes."),
    ("</think>\n\nYes.", "", "Yes."),
    ("<think>Never ends", "Never ends", ""),
    ("<think></think>Yes.", "", "Yes."),
    ("Yes, <think>Hm.</think> is a tag.", "", "Yes, <think>Hm.</think> is a tag."),
    ("<thin ice>", "", "<thin ice>"),
    ("  plain ", "", "  plain "),
    ("<thi", "", "<thi"),
    ("<think> and </think> are tags.", "", "<think> and </think> are tags."),
    ("<think>…</think> is how R1 begins.", "", "<think>…</think> is how R1 begins."),
    ("<thinking>: an older tag.", "", "<thinking>: an older tag."),
    ("<think>\nand so on\n</think>\nYes.", "and so on", "Yes."),
    ("<think>\n", "", ""),
    ("", "", ""),
]


def read(*pieces: str) -> tuple[str, str]:
    tagged = TaggedText()
    found = [one for piece in pieces for one in tagged.read(piece)]
    found += tagged.rest()
    return "".join(text for is_thought, text in found if is_thought), "".join(
        text for is_thought, text in found if not is_thought
    )


@pytest.mark.parametrize(("text", "thought", "words"), SPLIT)
def test_thoughts_in_tags_are_told_apart_in_any_pieces(text: str, thought: str, words: str) -> None:
    for size in (1, 2, 3, 7, len(text) or 1):
        cut = [text[at : at + size] for at in range(0, len(text), size)]
        assert read(*cut) == (thought, words), size


@pytest.mark.parametrize(
    "text",
    [
        "Use tags like these.\n\n<thinking>\nYour reasons\n</thinking>\n\nThen the answer.",
        "The prompt has it\n<reasoning>\nwhy\n</reasoning>\n<answer>\n42\n</answer>",
        "Vorlage\n<think>\nwarum\n</think>",
        "~~~\n<think>\nx\n</think>\n~~~",
        "DeepSeek writes its thoughts before the answer.\n\n<think>\nHm.\n</think>\n\nThe rest is the answer.",
        "It printed\n\n<think>\nHm.\n</think>\n\nboth times.",
        "Add this to your parser's test.\n\n<think>\nHm.\n</think>\n\nThen run it.",
        "Sure. Here's the file.\n\n<reflection>\nWhat did I learn?\n</reflection>\n\nSave it.",
        "Your log ends with this line\n</think>\nand then nothing follows.",
        "The closing mark is missing:\n</think>\n\nAdd it.",
        "I end each reply with <|im_end|>",
        "I look.\n<think>\nx\n<think>\nNever ends",
        'It is\nPROMPT = """\n<think>\nx\n</think>\n"""',
        "    <think>\n    x\n    </think>\n\nis how R1 writes.",
        "The policy\n<policy>\n<reason>\nlate\n</reason>\n</policy>",
    ],
)
def test_tags_that_a_reply_shows_stay_in_its_words(text: str) -> None:
    """What stands between them was no thought of the model, and was missing from the reply."""
    assert parted((TextPart(text),)) == (TextPart(text),)


ORPHANS: list[tuple[tuple[Part, ...], tuple[Part, ...]]] = [
    ((TextPart("Hm.\n</think>\n\nYes."),), (ReasoningPart("Hm."), TextPart("Yes."))),
    ((TextPart("Hm.</think>\n\nYes."),), (ReasoningPart("Hm."), TextPart("Yes."))),
    ((TextPart("</think>\nYes."),), (TextPart("Yes."),)),
    ((TextPart('Hm.\n</think>{"a": 1}'),), (ReasoningPart("Hm."), TextPart('{"a": 1}'))),
    ((TextPart("Hm.\n[/THINK]\nYes."),), (ReasoningPart("Hm."), TextPart("Yes."))),
    ((TextPart("analysisWe greet.assistantfinalYes."),), (ReasoningPart("We greet."), TextPart("Yes."))),
    ((TextPart("Yes.<|im_end|>"),), (TextPart("Yes."),)),
    ((TextPart("Yes.<seed:eos>"),), (TextPart("Yes."),)),
    (
        (
            TextPart(
                "Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\nYes.\n[END FINAL RESPONSE]\n<|end|>"
            ),
        ),
        (ReasoningPart("Hm."), TextPart("Yes.")),
    ),
    (
        (TextPart("Here are my reasoning steps:\n1. One."),),
        (TextPart("Here are my reasoning steps:\n1. One."),),
    ),
    ((TextPart("Yes.[|endofturn|]"),), (TextPart("Yes."),)),
    ((ReasoningPart("Hm."), TextPart("Yes.<|eot_id|>\n</s>")), (ReasoningPart("Hm."), TextPart("Yes."))),
]
STAY: list[tuple[Part, ...]] = [
    (TextPart("The tag `</think>` ends it."),),
    (TextPart("The tag </think> ends it."),),
    (TextPart("As <think>a\n</think>\nb does."),),
    (TextPart("It ends with `<|im_end|>`"),),
    (TextPart("<|im_end|> ends a turn."),),
    (TextPart("<|im_end|>"),),
    (TextPart("analysis is done"),),
    (ReasoningPart("Hm."), TextPart("a\n</think>\nb")),
    (),
]


@pytest.mark.parametrize(("parts", "right"), ORPHANS)
def test_thoughts_before_a_tag_that_only_closes_are_thoughts(
    parts: tuple[Part, ...], right: tuple[Part, ...]
) -> None:
    assert parted(parts) == right


@pytest.mark.parametrize("parts", STAY)
def test_words_about_the_tag_stay_words(parts: tuple[Part, ...]) -> None:
    assert parted(parts) == parts


def test_words_far_before_a_tag_do_not_say_that_it_is_shown() -> None:
    """A line of any length is looked at as far as it costs no time that grows with its square."""
    near, far = "The token is this", f"The token {'goes on ' * WORDS_BEFORE}and it ends"

    assert parted([TextPart(f"{near}\n</think>\n\nYes.")]) == (TextPart(f"{near}\n</think>\n\nYes."),)
    assert parted([TextPart(f"{far}\n</think>\n\nYes.")]) == (ReasoningPart(far), TextPart("Yes."))
