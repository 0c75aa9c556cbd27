"""Pages as Markdown: what changes the meaning of words stays."""

from __future__ import annotations

import pytest

from core.talk.discussion.page_text import page_text
from tests.operations import LINEAR, growth


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ("<p>E = mc<sup>2</sup>, H<sub>2</sub>O</p>", "E = mc<sup>2</sup>, H<sub>2</sub>O"),
        ("<p><del>9 €</del> <s>8</s> 7 €</p>", "~~9 €~~ ~~8~~ 7 €"),
        (
            "<dl><dt>Ebb</dt><dd>It falls</dd><dt>Flood</dt><dd>It rises</dd></dl>",
            "Ebb\n\n: It falls\n\nFlood\n\n: It rises",
        ),
        ("<section>one</section><section>two</section>", "one\n\ntwo"),
        ('<ol start="3"><li>three</li><li>four</li></ol>', "3. three\n4. four"),
        ('<ol><li>one</li><li value="7">seven</li><li>eight</li></ol>', "1. one\n7. seven\n8. eight"),
        ('<pre><code class="language-python">a = 1\n</code></pre>', "```python\na = 1\n```"),
        (
            "<table><tr><th>A</th><th>B</th></tr><tr><td>1<br>x</td><td>2|3</td></tr><tr><td colspan=2>y</td></tr></table>",
            "| A | B |\n| --- | --- |\n| 1 x | 2\\|3 |\n| y |  |",
        ),
        ('<ol type="a" start="26"><li>x</li><li>y</li></ol>', "z. x\naa. y"),
        ('<ol type="I"><li value="4">x</li></ol>', "IV. x"),
        ("<p style='color: red; display : none'>no</p><p style='visibility:hidden'>no</p><p>yes</p>", "yes"),
        (
            "<p><ruby>漢<rt>kan</rt></ruby> <ruby>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby></p>",
            "漢(kan) 字(ji)",
        ),
        (
            (
                "<label>Name <input value=Ada></label> <input type=hidden value=no><input type=password value=no>"
                "<select><option>Ulm<option selected>Bonn</select> <select><option>a<option>b</select>"
            ),
            "Name Ada Bonn a b",
        ),
        ("<p>a</p><template><p>hidden</p></template><p>b</p>", "a\n\nb"),
        ("<p>a</p><script>x()</script><style>p{}</style>", "a"),
        ("<p>\ufdd0sup\ufdd5 stays text</p>", "sup stays text"),
        ("<p>He said <q>stop</q>, Donau&shy;dampf</p>", "He said “stop”, Donaudampf"),
        (
            "<ul><li><input type=checkbox checked disabled> done</li><li><input type=checkbox> open</li></ul>",
            "- [x] done\n- [ ] open",
        ),
        (
            "<table><tr><th>Day</th><th>High</th></tr><tr><td rowspan=2>Mon</td><td>6</td></tr><tr><td>18</td></tr></table>",
            "| Day | High |\n| --- | --- |\n| Mon | 6 |\n|  | 18 |",
        ),
        (
            "<p><math alttext='a_1^2'><mi>a</mi></math>, <math><mi>b</mi><annotation encoding='application/x-tex'>b</annotation></math></p>",
            "$a_1^2$, $b$",
        ),
        ("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>字</p>", "漢(kan)字"),
        (
            "<details><summary>More</summary><p>Words that fold away</p></details><p>b</p>",
            "More\n\nWords that fold away\n\nb",
        ),
        ("<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>", "1. a\n   - b\n2. c"),
        (
            "<pre>def f():\n    return 1\n</pre><p>one<br>two</p>",
            "```\ndef f():\n    return 1\n```\n\none\ntwo",
        ),
        (
            "<table><caption>Tides</caption><thead><tr><th>Day</th></tr></thead><tbody><tr><td>Mon</td></tr></tbody></table>",
            "Tides\n\n| Day |\n| --- |\n| Mon |",
        ),
        ("<p hidden>secret</p><p>shown</p>", "shown"),
        ("<select><option>Alpha</option><option>Beta</option></select>", "Alpha Beta"),
        (
            '<ul><li><p>a</p><pre><code class="language-sh">ls\n</code></pre></li><li>b</li></ul>',
            "- a\n\n  ```sh\n  ls\n  ```\n- b",
        ),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ("<h2>Tides<br>and ebb</h2><p>x</p>", "## Tides and ebb\n\nx"),
        (
            "<p>AT&amp;T's snake_case[0] * 2 &lt; C:\\dir, <code>a_b</code></p><ul><li>x_y</li></ul><table><tr><td>p_q</td></tr></table>",
            "AT&T's snake_case[0] * 2 < C:\\dir, `a_b`\n\n- x_y\n\n| p_q |\n| --- |",
        ),
        ("<p>Use <code>a | b</code> or <kbd>Ctrl</kbd>+<kbd>C</kbd></p>", "Use `a | b` or Ctrl+C"),
    ],
)
def test_what_changes_the_meaning_stays(html: str, wanted: str) -> None:
    text = page_text(html.encode(), "utf-8")
    assert "\n".join(line.rstrip() for line in text.strip().split("\n")) == wanted


def test_an_address_that_runs_code_is_left_out() -> None:
    assert "javascript" not in page_text(b'<p><a href="javascript:x()">link</a></p>', "utf-8")


def test_a_table_in_a_table_is_read() -> None:
    html = "<table><tr><td>a<table><tr><td>in</td></tr></table></td></tr></table>"
    assert "in" in page_text(html.encode(), "utf-8")


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "$1/2$"),
        (
            "<mrow><msup><mi>a</mi><mn>2</mn></msup><mo>+</mo><msub><mi>x</mi><mrow><mi>n</mi><mo>-</mo><mn>1</mn></mrow></msub><mo>=</mo><mi>c</mi></mrow>",
            "$a^2 + x_(n - 1) = c$",
        ),
        (
            "<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><msqrt><mn>2</mn></msqrt></mfrac>",
            "$(a + b)/(\u221a(2))$",
        ),
        ("<munderover><mo>\u2211</mo><mi>i</mi><mi>n</mi></munderover><mi>i</mi>", "$\u2211_i^ni$"),
        (
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable>",
            "$(1, 0; 0, 1)$",
        ),
    ],
)
def test_a_formula_without_its_source_is_told_by_its_signs(formula: str, said: str) -> None:
    assert page_text(f"<p>So <math>{formula}</math>.</p>".encode(), "utf-8") == f"So {said}."


def test_formulas_in_formulas_are_read_in_proportion() -> None:
    def nested(size: int) -> str:
        return page_text(f"<p>a <math>{'<mrow>' * 30}{'<mi>x</mi>' * size}</math></p>".encode(), "utf-8")

    assert growth(nested, 100) <= LINEAR


@pytest.mark.parametrize(
    ("data", "charset", "wanted"),
    [
        ("<p>Grüße, 冷蔵庫</p>".encode(), "", "Grüße, 冷蔵庫"),
        ("<p>Grüße – 5 €</p>".encode("cp1252"), "", "Grüße – 5 €"),
        ("<meta charset='shift_jis'><p>冷蔵庫①</p>".encode("cp932"), "", "冷蔵庫①"),
        (
            "<meta http-equiv=x content='text/html; charset=gb2312'><p>冰箱镕</p>".encode("gb18030"),
            "",
            "冰箱镕",
        ),
        ("<p>Привет</p>".encode("cp1251"), "windows-1251", "Привет"),
        ("<p>Привет</p>".encode("koi8-r"), "KOI8-R", "Привет"),
        ("<p>Zażółć</p>".encode("utf-16"), "iso-8859-1", "Zażółć"),
        ("<meta charset=utf-16><p>żółć</p>".encode(), "", "żółć"),
        ("<meta charset=iso-8859-8-i><p>שלום</p>".encode("iso8859-8"), "", "שלום"),
        ("<p>ä</p>".encode(), "punycode", "ä"),
        ("<p>ä</p>".encode(), "hex", "ä"),
        ("<p>ä</p>".encode(), "hz-gb-2312", "ä"),
        ("<p>ä</p>".encode(), "x-user-defined", "ä"),
        ("<p>冷蔵庫</p>".encode("cp932"), "x-sjis", "冷蔵庫"),
    ],
)
def test_a_page_is_read_in_the_charset_of_its_mark_its_server_or_itself(
    data: bytes, charset: str, wanted: str
) -> None:
    assert page_text(data, charset).strip() == wanted


def test_signs_that_nobody_renders_stand_as_on_the_page() -> None:
    """A mark is escaped only where it would make another kind of line of what follows it: a heading, a quote."""
    html = "<p>1986. A great year</p><p>- dash, +1, a_b, use `x`</p><p># 5</p><p>a <code>b`c</code></p>"

    assert page_text(html, "") == "1986. A great year\n\n- dash, +1, a_b, use `x`\n\n\\# 5\n\na ``b`c``"


def test_lines_of_typed_text_that_a_page_breaks_by_an_element_stay_lines() -> None:
    assert (
        page_text("<pre>one<br>two<b><br>three</b></pre><p>a<br>b</p>", "")
        == "```\none\ntwo\nthree\n```\n\na\nb"
    )


def test_words_of_a_list_beside_its_items_and_of_a_drawing_stay() -> None:
    assert page_text("<ul>Before<li>one</li></ul>", "") == "Before\n- one"
    assert (
        page_text(
            "<p>Catch: <svg><title>icon</title><g><text>42 <tspan>eels</tspan></text></g></svg></p>", ""
        )
        == "Catch: 42 eels"
    )
