"""Text of a PDF: filled forms bring their values, and a word broken at a line's end is whole."""

from __future__ import annotations

import pytest

from core.talk.discussion.pdf_text import read_pdf
from tests.pdfs import ascii_pdf, drawn_pdf, encrypted_pdf, form_pdf, make_pdf


def test_a_word_that_a_line_breaks_is_whole() -> None:
    text = read_pdf(
        make_pdf("A hydro-\nponic garden of well-\nknown kinds, well-known", "from Saint-\nMalo")
    )["text"]
    assert "hydroponic garden" in text
    assert text.count("well-known") == 2
    assert "Saint-Malo" in text
    assert "\x02" not in text


def test_a_part_that_lacks_its_end_for_good_stays_apart() -> None:
    text = read_pdf(
        make_pdf("Die Ein-\nund Ausgabe, two-\nor three-\nday, a self-\nmade well-\nknown well-\nness")
    )["text"]
    assert "Die Ein- und Ausgabe, two- or three-day, a self-made well-known wellness" in text


def test_a_small_word_ends_another_unless_the_document_has_it_elsewhere() -> None:
    text = read_pdf(make_pdf("Die Frau-\nen, fat-\nto, ein Well-\nblech, a well-\nspring, wellspring"))[
        "text"
    ]
    assert "Die Frauen, fatto, ein Wellblech, a wellspring, wellspring" in text
    text = read_pdf(make_pdf("zwei-\nbis dreimal, von eins bis drei, the Kür-\nbis: Kürbis, self-\nie"))[
        "text"
    ]
    assert "zwei- bis dreimal, von eins bis drei, the Kürbis: Kürbis, selfie" in text


def test_a_chain_of_words_keeps_its_hyphens_where_a_small_word_ends_the_line() -> None:
    text = read_pdf(make_pdf("state-of-the-\nart pumps of a Rhein-Main-Ge-\nbiet, face-to-\nface"))["text"]
    assert "state-of-the-art pumps of a Rhein-Main-Gebiet, face-to-face" in text


def test_a_word_with_more_hyphens_stays_on_its_pages() -> None:
    text = read_pdf(make_pdf("It is state-of-", "the-art work"))["text"]
    assert "state-of-\n" in text
    assert "[Page 2]\nthe-art work" in text


def test_a_word_that_a_page_breaks_is_whole_on_the_page_where_it_begins() -> None:
    text = read_pdf(make_pdf("The counterrevo-\n7", "lutionary, then", "Half-", "Open end"))["text"]
    assert "The counterrevolutionary,\n7\n" in text
    assert "[Page 2]\nthen" in text
    assert "Half-\n" in text


def test_a_filled_form_brings_its_values() -> None:
    text = read_pdf(
        form_pdf({"Name": "Ada Lovelace", "Town": ""}, checked={"Paid": True, "Late": False}, over="Seen, M.")
    )["text"]
    assert "Name: Ada Lovelace" in text
    assert "Paid: yes\nLate: no" in text
    assert "Town" not in text
    assert "Seen, M." in text


def test_a_password_of_a_form_stays_out() -> None:
    assert "hush" not in read_pdf(form_pdf({"Key": "hush"}, flags=1 << 13))["text"]


def test_a_field_of_several_lines_keeps_them() -> None:
    text = read_pdf(form_pdf({"Notes": "one\\ntwo", "Sum": "9 \\(net\\)"}))["text"]
    assert "Notes: one\ntwo" in text
    assert "Sum: 9 (net)" in text


def test_a_word_that_two_lines_break_is_whole() -> None:
    assert "Donaudampfschiff fahrt" in read_pdf(make_pdf("Die Donau-\ndampf-\nschiff fahrt"))["text"]


def test_a_word_of_capitals_is_whole_unless_its_parts_are_words() -> None:
    text = read_pdf(make_pdf("COMPRES-\nSOR of hall 2", "the ABC-\nXYZ line, see ABC"))["text"]
    assert "COMPRESSOR of" in text
    assert "ABC-XYZ line" in text


def test_a_raised_number_is_no_further_digit_and_a_lowered_one_ends_no_line() -> None:
    """Ten to the sixth cells are not 106 cells."""
    small, back = "Tj {} Ts /F1 8 Tf (", "Tj 0 Ts /F1 12 Tf ("
    raised, lowered = small.format(5), small.format(-3)
    words = f"In 20 m){raised}2){back} stood 10){raised}12){back} cells, 7){raised}3){back}H){lowered}2){back}O and 106"
    text = read_pdf(ascii_pdf(words))["text"]
    assert "In 20 m^2 stood 10^12 cells, 7^3H2O and 106\n" in text


def test_a_sign_is_raised_with_its_number_and_so_is_the_mark_of_a_footnote() -> None:
    """Ten to the minus sixth is not ten minus six."""
    small, back = "Tj 5 Ts /F1 8 Tf (", "Tj 0 Ts /F1 12 Tf ("
    text = read_pdf(ascii_pdf(f"From 10){small}-6){back} to 10-12 kg, as told.){small}3){back} So"))["text"]
    assert "From 10^-6 to 10-12 kg, as told.^3 So\n" in f"{text}\n"


def test_a_raised_number_is_told_where_a_font_of_size_one_is_scaled() -> None:
    """As InDesign writes it."""
    parts = (("In 10", 20, 100, 12), ("12", 48, 105, 8), (" cells, not 106 of them", 60, 100, 12))
    words = "".join(f") Tj /F1 1 Tf {size} 0 0 {size} {x} {y} Tm ({said}" for said, x, y, size in parts)
    assert "In 10^12 cells, not 106 of them" in read_pdf(ascii_pdf(words))["text"]


def test_words_of_a_note_on_the_page_are_read() -> None:
    text = read_pdf(form_pdf({}, over="Ask Ada.").replace(b"/FreeText", b"/Text    "))["text"]
    assert "[Note] Ask Ada." in text


@pytest.mark.parametrize("page", [0, 90, 180, 270])
@pytest.mark.parametrize("words", [(1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0)])
def test_lines_are_read_from_the_first_however_the_page_and_its_words_are_turned(
    page: int, words: tuple[int, int, int, int]
) -> None:
    turn = " ".join(map(str, words))
    content = (
        f"q {turn} 200 100 cm BT /F1 12 Tf 14 TL (first row) Tj T* (second row) Tj T* (third row) Tj ET Q"
    )
    text = read_pdf(drawn_pdf(content.encode(), b"/Rotate %d" % page))["text"]
    assert text == "[Page 1]\nfirst row\nsecond row\nthird row\n"


def test_cells_of_a_row_stay_apart_and_in_one_line() -> None:
    cells = ("6 41 (Item)", "63 41 (Qty)", "92 41 (Price)", "6 23 (Oak plank)", "63 23 (4)", "92 23 (12.50)")
    drawn = (cell.partition(" (") for cell in cells)
    content = " ".join(f"BT /F1 10 Tf 1 0 0 1 {place} Tm ({said} Tj ET" for place, _, said in drawn)
    assert read_pdf(drawn_pdf(content.encode()))["text"] == "[Page 1]\nItem Qty Price\nOak plank 4 12.50\n"


def test_a_link_brings_its_address_unless_the_page_says_it() -> None:
    content = b"BT /F1 12 Tf 20 100 Td (Read the terms or a.example/b) Tj ET"
    link = b"<< /Type /Annot /Subtype /Link /Rect [20 95 200 115] /A << /S /URI /URI (https://%s) >> >>"
    links = b"/Annots [%s %s]" % (link % b"x.example/terms", link % b"x.example/terms")
    text = read_pdf(drawn_pdf(content, links))["text"]
    assert text.endswith("\n[Link] Read the terms or a.example/b: https://x.example/terms\n")
    assert text.count("[Link]") == 1
    assert "[Link]" not in read_pdf(drawn_pdf(content, b"/Annots [%s]" % link % b"a.example/b"))["text"]


def test_a_pdf_that_opens_for_everybody_is_read_where_no_provider_gets_it() -> None:
    assert "problem" in read_pdf(encrypted_pdf())
    assert read_pdf(encrypted_pdf(), is_sent=False) == {"pages": 1, "text": ""}
    assert "password" in read_pdf(encrypted_pdf("secret"), is_sent=False)["problem"]
