"""What lies beside the text of office files: charts, comments, texts on the edge of pages, units of numbers."""

from __future__ import annotations

import io
import zipfile

import pytest

from core.talk.discussion.document_text import DocumentError, document_text
from tests.core.talk.discussion.test_document_text import (
    R,
    cell,
    open_document,
    p,
    packed,
    relations,
    slides,
    word,
    workbook,
)


def _points(kind: str, *values: str, code: str = "") -> str:
    form = f"<formatCode>{code}</formatCode>" if code else ""
    rows = "".join(f'<pt idx="{at}"><v>{value}</v></pt>' for at, value in enumerate(values) if value)
    return f"<{kind}Ref><{kind}Cache>{form}{rows}</{kind}Cache></{kind}Ref>"


def _series(name: str, over: str, values: str, axes: tuple[str, str] = ("cat", "val")) -> str:
    first, second = axes
    return f"<ser><tx>{_points('str', name)}</tx><{first}>{over}</{first}><{second}>{values}</{second}></ser>"


def _chart(*series: str, title: str = "") -> str:
    head = f"<title><tx><rich><p><r><t>{title}</t></r></p></rich></tx></title>" if title else ""
    return f"<chartSpace><chart>{head}<plotArea><barChart>{''.join(series)}</barChart></plotArea></chart></chartSpace>"


QUARTERS = _points("str", "Q1", "Q2")
SHARES = _chart(
    _series("North", QUARTERS, _points("num", "0.25", "0.5", code="0%")),
    _series("South", QUARTERS, _points("num", "0.1", "", code="0%")),
    title="Share",
)
SHARES_TOLD = (
    "[Chart: Share]\n\n|  | North | South |\n| --- | --- | --- |\n| Q1 | 25% | 10% |\n| Q2 | 50% |  |"
)


def _with(document: bytes, **parts: str) -> bytes:
    """The document with further parts; `__` in a name is a slash, `_rels` and others keep their one."""
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        held = {name: archive.read(name).decode() for name in archive.namelist()}
    return packed({**held, **{name.replace("__", "/"): text for name, text in parts.items()}})


def test_a_chart_in_a_document_is_its_title_and_its_table() -> None:
    drawn = '<w:p><w:r><w:drawing><inline><graphic><graphicData><chart r:id="chart"/></graphicData></graphic></inline></w:drawing></w:r></w:p>'
    document = word(p("Before") + drawn + p("After"), chart="")
    document = _with(document, **{"word__chart.xml": SHARES})
    assert document_text(document) == f"Before\n\n{SHARES_TOLD}\n\nAfter\n"


def test_days_and_shares_of_a_chart_count_as_the_chart_says() -> None:
    drawn = '<w:p><w:r><w:drawing><chart r:id="chart"/></w:drawing></w:r></w:p>'
    literal = "<numLit><formatCode>0%</formatCode><pt idx='0'><v>0.25</v></pt></numLit>"
    chart = _chart(_series("North", _points("num", "40000", code="yyyy-mm-dd"), literal))
    document = _with(
        word(drawn, chart=""),
        **{"word__chart.xml": chart.replace("<chart>", "<date1904 val='1'/><chart>", 1)},
    )
    assert document_text(document).endswith("| 2013-07-07 | 25% |\n")


def test_a_chart_of_too_many_cells_is_refused_before_its_table_is_made() -> None:
    drawn = '<w:p><w:r><w:drawing><chart r:id="chart"/></w:drawing></w:r></w:p>'
    points = ("".join(f"<pt idx='{n * 10_000 + at}'><v>1</v></pt>" for at in range(600)) for n in range(100))
    chart = _chart(*(_series("N", "", f"<numLit>{one}</numLit>") for one in points))
    with pytest.raises(DocumentError, match="characters"):
        document_text(_with(word(drawn, chart=""), **{"word__chart.xml": chart}))


def test_a_chart_of_a_slide_and_remarks_on_it_are_read() -> None:
    names = f'xmlns:p="p" xmlns:a="a" xmlns:c="c" {R}'
    frame = '<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="chart"/></a:graphicData></a:graphic></p:graphicFrame>'
    own = _points("num", "1.5", "3")
    plain = _chart(
        _series("A", own, _points("num", "2", "4.25"), ("xVal", "yVal")),
        _series("B", _points("num", "9"), _points("num", "8"), ("xVal", "yVal")),
    )
    document = _with(
        slides(),
        **{
            "ppt__slides__s2.xml": f"<p:sld {names}><p:cSld><p:spTree>{frame}</p:spTree></p:cSld></p:sld>",
            "ppt__slides___rels__s2.xml.rels": relations(chart="../c.xml", comments="../m.xml"),
            "ppt__c.xml": plain,
            "ppt__m.xml": f'<p:cmLst {names}><p:cm authorId="0"><p:text>Which year?</p:text></p:cm></p:cmLst>',
            "ppt___rels__presentation.xml.rels": relations(
                slide1="slides/s1.xml", slide2="slides/s2.xml", commentAuthors="w.xml"
            ),
            "ppt__w.xml": f'<p:cmAuthorLst {names}><p:cmAuthor id="0" name="Ada"/></p:cmAuthorLst>',
        },
    )
    assert document_text(document).startswith(
        "## Slide 1\n\n[Chart]\n\n|  | A |\n| --- | --- |\n| 1.5 | 2 |\n| 3 | 4.25 |\n\n|  | B |\n| --- | --- |\n| 9 | 8 |\n\n"
        "[Comment by Ada: Which year?]\n\n## Slide 2"
    )


def test_texts_at_the_edge_of_pages_are_told_once_and_numbers_of_pages_never() -> None:
    sections = (
        '<w:p/><w:sectPr><w:headerReference r:id="header"/><w:footerReference r:id="footer"/></w:sectPr>'
    )
    assert document_text(word(p("Body") + 2 * sections, header=p("Badger Ltd"), footer=p("12"))) == (
        "Body\n\n[Header] Badger Ltd\n"
    )
    styles = (
        '<o:d xmlns:o="o" xmlns:text="t" xmlns:style="s"><style:master-page><style:header><text:p>Draft</text:p></style:header>'
        "<style:footer><text:p>3</text:p></style:footer></style:master-page></o:d>"
    )
    assert document_text(_with(open_document(), **{"styles.xml": styles})).endswith(
        "[^1]: why\n\n[Header] Draft\n"
    )


def test_links_of_notes_and_of_the_edge_of_pages_are_those_of_their_own_part() -> None:
    body = '<w:p><w:r><w:footnoteReference w:id="2"/></w:r></w:p><w:sectPr><w:headerReference r:id="header"/></w:sectPr>'
    link = f'<w:p><w:hyperlink {R} r:id="hyperlink"><w:r><w:t>terms</w:t></w:r></w:hyperlink></w:p>'
    document = _with(
        word(body, footnotes=f'<w:footnote w:id="2">{link}</w:footnote>', header=link),
        **{
            "word___rels__header.xml.rels": relations(hyperlink="https://head.example"),
            "word___rels__footnotes.xml.rels": relations(hyperlink="https://note.example"),
        },
    )
    assert document_text(document) == (
        "[^1]\n\n[^1]: [terms](https://note.example)\n\n[Header] [terms](https://head.example)\n"
    )


def test_a_chart_of_an_open_document_is_read_out_of_its_object() -> None:
    names = 'xmlns:o="o" xmlns:text="t" xmlns:draw="d" xmlns:table="b" xmlns:c="c" xmlns:x="x"'
    content = f"<o:d {names}><o:body><o:text><text:p>Body<draw:frame><draw:object x:href='./Object 1'/></draw:frame></text:p></o:text></o:body></o:d>"
    row = "<table:table-row><table:table-cell><text:p>{}</text:p></table:table-cell><table:table-cell><text:p>{}</text:p></table:table-cell></table:table-row>"
    table = f"<table:table>{row.format('', 'North')}{row.format('Q1', '0.25')}</table:table>"
    chart = f"<o:d {names}><o:body><o:chart><c:chart><c:title><text:p>Share</text:p></c:title><c:plot-area/>{table}</c:chart></o:chart></o:body></o:d>"
    document = packed(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": content,
            "Object 1/content.xml": chart,
        }
    )
    assert document_text(document) == "Body\n\n[Chart: Share]\n\n|  | North |\n| --- | --- |\n| Q1 | 0.25 |\n"


def test_remarks_and_boxes_of_a_sheet_stand_behind_its_table() -> None:
    document = _with(
        workbook(f"<row r='1'>{cell('A1', '5')}</row>"),
        **{
            "xl__worksheets___rels__0.xml.rels": relations(comments="../c.xml", drawing="../d.xml"),
            "xl__c.xml": '<comments><commentList><comment ref="A1"><text><r><t>Check it</t></r></text></comment></commentList></comments>',
            "xl__d.xml": "<d><sp><txBody><p><r><t>In a box</t></r></p></txBody></sp></d>",
        },
    )
    assert document_text(document) == "## Costs\n\n5\n\n[Comment on A1: Check it]\n\nIn a box\n"


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ('0.00" kg"', "12.5", "12.50 kg"),
        ("#,##0 €", "1234.5", "1234.5 €"),
        ("[$€-407] #,##0.00", "-3", "-€ 3.00"),
        ("$#,##0_);($#,##0)", "-1234", "-$1234"),
        (r'_-* #,##0.00\ "€"_-;-* #,##0.00\ "€"_-', "7", "7.00 €"),
        ("#,##0.00 [$CHF]", "7", "7.00 CHF"),
        ("0°C", "21", "21°C"),
        ('General" pcs"', "4", "4 pcs"),
        ('0.0,,"M"', "1200000", "1200000"),
        ('0.0,"K"', "1234567", "1234567"),
        ('#,##0,.0" K"', "1234567", "1234567"),
        ('"DR "0;"CR "0', "-5", "-5"),
        ('"DR "0;[Red]"DR "-0', "-5", "-DR 5"),
        ("000-00-0000", "12345678", "012345678"),
        ("00000", "1234", "01234"),
        ('"INV-"0000', "42", "INV-0042"),
        ("000.0", "-5.25", "-005.25"),
        ("# ?/?", "1.5", "1.5"),
        ('[>=1000]#,##0,"K";0', "5000", "5000"),
        ('"yes";"no"', "1", "1"),
        ("0.00E+00", "0.00012", "0.00012"),
        ("0.0%", "0.25", "25.0%"),
        ("yyyy-mm-dd", "46086", "2026-03-05"),
    ],
)
def test_a_number_has_the_unit_that_its_cell_shows(code: str, value: str, shown: str) -> None:
    code = code.replace("&", "&amp;").replace('"', "&quot;").replace(">", "&gt;")
    styles = f'<styleSheet><numFmts><numFmt numFmtId="170" formatCode="{code}"/></numFmts><cellXfs><xf numFmtId="170"/></cellXfs></styleSheet>'
    document = _with(workbook(f"<row r='1'>{cell('A1', value)}</row>"), **{"xl__styles.xml": styles})
    assert document_text(document) == f"## Costs\n\n{shown}\n"
