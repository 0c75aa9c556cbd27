"""Office files, books and exports of notes become Markdown that says what the document shows."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from core.talk.discussion import document_package
from core.talk.discussion.document_text import DocumentError, document_text, read_document

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()


def relations(**targets: str) -> str:
    rows = "".join(
        f'<Relationship Id="{kind}" Type="{OFFICE}/{kind.rstrip("0123456789")}" Target="{target}"'
        + (' TargetMode="External"/>' if "://" in target else "/>")
        for kind, target in targets.items()
    )
    return f"<Relationships>{rows}</Relationships>"


def word(body: str, **parts: str) -> bytes:
    """A docx with this body; `styles`, `numbering` and the others are the content of those parts."""
    links = {"hyperlink": "https://a.example/terms"}
    return packed(
        {
            "_rels/.rels": relations(officeDocument="word/document.xml"),
            "word/document.xml": f"<w:document {W} {R}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(**{name: f"{name}.xml" for name in parts}, **links),
            **{f"word/{name}.xml": f"<w:{name} {W}>{text}</w:{name}>" for name, text in parts.items()},
        }
    )


def p(said: str, about: str = "") -> str:
    return f"<w:p><w:pPr>{about}</w:pPr><w:r><w:t>{said}</w:t></w:r></w:p>"


def run(said: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{said}</w:t></w:r>'


SUP, NOT_STRUCK = '<w:vertAlign w:val="superscript"/>', '<w:strike w:val="0"/>'
STYLES = """<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="7"/></w:numPr></w:pPr></w:style>
<w:style w:styleId="Own"><w:name w:val="Our clause"/><w:basedOn w:val="berschrift1"/></w:style>"""
NUMBERING = """<w:abstractNum w:abstractNumId="0">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="Article %1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:isLgl/><w:lvlText w:val="%1.%2"/></w:lvl>
<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%3)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="x"/></w:lvl></w:abstractNum>
<w:num w:numId="7"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="8"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="9"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="2"><w:startOverride w:val="1"/></w:lvlOverride></w:num>"""


def item(number: int, level: int) -> str:
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'


def test_a_contract_keeps_the_numbers_that_word_shows() -> None:
    body = (
        p("Rent", '<w:pStyle w:val="berschrift1"/>')
        + p("Due monthly", item(7, 1))
        + p("in cash", item(7, 2))
        + p("by card", item(7, 2))
        + p("Term", '<w:pStyle w:val="Own"/>')
        + p("One year", item(7, 1))
        + p("from May", item(9, 2))
        + p("a point", item(8, 0))
    )
    assert document_text(word(body, styles=STYLES, numbering=NUMBERING)) == (
        "# Article I. Rent\n\n  1.1 Due monthly\n    (a) in cash\n    (b) by card\n\n"
        "# Article II. Term\n\n  2.1 One year\n    (a) from May\n- a point\n"
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"<w:p>{run('x')}{run('2', SUP)}{run(' ok')}</w:p>", "x<sup>2</sup> ok"),
        (f"<w:p>{run('now ')}{run('was ', '<w:strike/>')}{run('be', NOT_STRUCK)}</w:p>", "now ~~was~~ be"),
        (f"<w:p>{run('seen')}{run('unseen', '<w:vanish/>')}</w:p>", "seen"),
        (f'<w:p><w:hyperlink r:id="hyperlink">{run("terms")}</w:hyperlink></w:p>', "[terms](https://a.example/terms)"),
        (
            f"<w:p>{run('pay ')}<w:del><w:r><w:delText>10</w:delText></w:r></w:del><w:ins>{run('12')}</w:ins></w:p>",
            "[Tracked changes are shown as accepted.]\n\npay 12",
        ),
        ('<w:p><w:r><w:t>a</w:t><w:br w:type="page"/><w:t>b</w:t><w:br w:type="page"/></w:r></w:p>', "a\nb"),
        ('<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/></w:r></w:p>', "a\tb\nc-"),
        ('<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FE"/><w:t> yes</w:t></w:r></w:p>', "☒ yes"),
        (f"<w:sdt><w:sdtContent>{p('in a control')}</w:sdtContent></w:sdt>", "in a control"),
        (
            "<w:p><w:r><AlternateContent><Choice><w:txbxContent>" + p("boxed") + "</w:txbxContent></Choice><Fallback>"
            "<w:txbxContent>" + p("boxed") + "</w:txbxContent></Fallback></AlternateContent></w:r></w:p>",
            "boxed",
        ),
        (
            "<w:p><oMath><f><num><r><t>a</t></r></num><den><r><t>b+c</t></r></den></f></oMath></w:p>",
            "a/(b+c)",
        ),
        (
            ("<w:p><oMath><nary><naryPr><chr val='∑'/></naryPr><sub><r><t>i=1</t></r></sub><sup><r><t>n</t></r></sup>"
            "<e><d><dPr><begChr val='|'/><endChr val='|'/></dPr><e><r><t>x</t></r></e></d></e></nary></oMath></w:p>"),
            "∑_(i=1)^n |x|",
        ),
        (
            ("<w:p><oMath><d><e><m><mr><e><r><t>a</t></r></e><e><r><t>b</t></r></e></mr><mr><e><r><t>c</t></r></e>"
            "<e><r><t>d</t></r></e></mr></m></e></d></oMath></w:p>"),
            "(a, b; c, d)",
        ),
        (
            ("<w:p><w:r><w:t>p </w:t><w:sym w:font='Symbol' w:char='F0B3'/><w:t> 5 </w:t>"
            "<w:sym w:font='Symbol' w:char='F06D'/><w:t>g</w:t><w:sym w:font='x' w:char='zz'/></w:r></w:p>"),
            "p ≥ 5 μg",
        ),
        (
            f"<w:p>{run('Sum')}<w:r><w:footnoteReference w:id='2'/></w:r><w:r><w:commentReference w:id='0'/></w:r></w:p>",
            "Sum[^1] [Comment by Ada: check]\n\n[^1]: net",
        ),
        (
            (f"<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr>{p('wide | one')}</w:tc></w:tr>"
            f"<w:tr><w:tc><w:tcPr><w:vMerge w:val='restart'/></w:tcPr>{p('tall')}</w:tc><w:tc>{p('a') + p('b')}</w:tc></w:tr>"
            f"<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr>{p('')}</w:tc><w:tc>{p('c')}</w:tc></w:tr></w:tbl>"),
            "| wide \\| one |  |\n| --- | --- |\n| tall | a b |\n|  | c |",
        ),
    ],
)  # fmt: skip
def test_word_keeps_what_changes_the_meaning(body: str, said: str) -> None:
    notes = {
        "footnotes": f"<w:footnote w:id='2'>{p('net')}</w:footnote>",
        "comments": f"<w:comment w:id='0' w:author='Ada'>{p('check')}</w:comment>",
    }
    assert document_text(word(body, **notes)).strip() == said


def slides(lost: str = "") -> bytes:
    """Two slides; `lost`: id of one more, of which nothing is there."""
    title = '<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Plan</a:t></a:r></a:p></p:txBody></p:sp>'
    points = '<p:sp><p:txBody><a:p><a:r><a:t>one</a:t></a:r></a:p><a:p><a:pPr lvl="1"/><a:r><a:t>two</a:t></a:r></a:p></p:txBody></p:sp>'
    cell = "<a:tc><p:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody></a:tc>"
    cells = "".join(map(cell.format, "ab"))
    table = f"<p:graphicFrame><a:graphic><a:tbl><a:tr>{cells}</a:tr><a:tr>{cells}</a:tr></a:tbl></a:graphic></p:graphicFrame>"
    names = f'xmlns:p="p" xmlns:a="a" {R}'
    notes = '<p:sp><p:nvSpPr><p:nvPr><p:ph type="body"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>speak</a:t></a:r></a:p></p:txBody></p:sp>'
    return packed(
        {
            "_rels/.rels": relations(officeDocument="/ppt/presentation.xml"),
            "ppt/presentation.xml": f'<p:x {names}><p:sldId id="256" r:id="slide2"/><p:sldId id="257" r:id="slide1"/>'
            f'{f"""<p:sldId r:id="{lost}"/>""" if lost else ""}</p:x>',
            "ppt/_rels/presentation.xml.rels": relations(slide1="slides/s1.xml", slide2="slides/s2.xml"),
            "ppt/slides/s1.xml": f'<p:sld show="0" {names}><p:cSld><p:spTree>{table}</p:spTree></p:cSld></p:sld>',
            "ppt/slides/s2.xml": f"<p:sld {names}><p:cSld><p:spTree>{points}{title}</p:spTree></p:cSld></p:sld>",
            "ppt/slides/_rels/s2.xml.rels": relations(notesSlide="../notes/n1.xml"),
            "ppt/notes/n1.xml": f"<p:notes {names}>{notes}</p:notes>",
        }
    )


def test_slides_have_titles_lists_tables_and_notes() -> None:
    assert document_text(slides()) == (
        "## Slide 1: Plan\n\none\n  - two\n\nNotes: speak\n\n## Slide 2 (hidden)\n\n| a | b |\n| --- | --- |\n| a | b |\n"
    )


def cell(place: str, value: str, style: int = 0, kind: str = "n") -> str:
    return f'<c r="{place}" s="{style}" t="{kind}"><v>{value}</v></c>'


ROWS = (
    f"<row r='3'>{cell('B3', '0', kind='s')}{cell('C3', '46086', 1)}{cell('D3', '0.125', 2)}</row>"
    f"<row r='4'>{cell('B4', '0.30000000000000004')}{cell('C4', '46086.5625', 1)}{cell('D4', '1.25', 3)}{cell('E4', '0.128958333', 3)}</row>"
    f"<row r='9'>{cell('B9', '1', kind='b')}<c r='C9'><f>SUM(B4)</f></c>{cell('D9', '0.385416667', 1)}</row>"
)


def workbook(
    *sheets: str,
    shared: str = "<si><r><t>Item</t></r><r><t>s</t></r><rPh><t>yomi</t></rPh></si>",
    styles: str = """<styleSheet><numFmts><numFmt numFmtId="170" formatCode="[h]:mm"/></numFmts>
    <cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="10"/><xf numFmtId="170"/></cellXfs></styleSheet>""",
    beside: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """A workbook with these rows of sheets; styles, unless given: 0 plain, 1 day, 2 share, 3 span of hours."""
    links = {f"worksheet{number}": f"worksheets/{number}.xml" for number in range(len(sheets))}
    told = "".join(f'<sheet name="Costs" r:id="{name}"/>' for name in links)
    return packed(
        {
            "_rels/.rels": relations(officeDocument="xl/workbook.xml"),
            "xl/workbook.xml": f"<workbook {R}><sheets>{told}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(**links, styles="styles.xml", sharedStrings="shared.xml"),
            **{
                f"xl/worksheets/{number}.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>"
                for number, rows in enumerate(sheets)
            },
            "xl/styles.xml": styles,
            "xl/shared.xml": f"<sst>{shared}</sst>",
            **beside,
        }
    )


def test_a_workbook_shows_days_shares_and_hours_as_such() -> None:
    assert document_text(workbook(ROWS)) == (
        "## Costs\n\n| Items | 2026-03-05 | 12.50% |  |\n| --- | --- | --- | --- |\n"
        "| 0.3 | 2026-03-05 13:30 | 30:00 | 3:05:42 |\n| TRUE | =SUM(B4) | 09:15 |  |\n"
    )


def open_document(form: str = "1") -> bytes:
    content = """<office:d xmlns:office="o" xmlns:text="t" xmlns:style="s" xmlns:table="b"><office:automatic-styles>
    <style:style style:name="Old"><style:text-properties style:text-line-through-style="solid"/></style:style>
    <style:style style:name="Up"><style:text-properties style:text-position="super 58%"/></style:style>
    <text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."
    text:start-value="3"/></text:list-style></office:automatic-styles><office:body><office:text>
    <text:tracked-changes><text:changed-region><text:p>gone</text:p></text:changed-region></text:tracked-changes>
    <text:h text:outline-level="2">Head</text:h><text:p>m<text:span text:style-name="Up">2</text:span>  or
     <text:span text:style-name="Old">ft</text:span><text:s text:c="2"/>end<text:note><text:note-citation>1</text:note-citation>
    <text:note-body><text:p>why</text:p></text:note-body></text:note></text:p>
    <text:list text:style-name="N"><text:list-item><text:p>three</text:p></text:list-item><text:list-item><text:p>four</text:p>
    </text:list-item></text:list><table:table><table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>a</text:p>
    </table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row><table:table-row
    table:number-rows-repeated="1000000"><table:table-cell/></table:table-row></table:table></office:text></office:body></office:d>"""
    return packed(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": content.replace('format="1"', f'format="{form}"'),
        }
    )


def test_an_open_document_keeps_numbers_struck_text_and_notes() -> None:
    assert document_text(open_document()) == (
        "[Tracked changes are shown as accepted.]\n\n## Head\n\nm<sup>2</sup> or ~~ft~~  end[^1]\n\n3. three\n4. four\n\n"
        "| a | a |\n| --- | --- |\n\n[^1]: why\n"
    )


@pytest.mark.parametrize(
    ("form", "said"),
    [("a", "c. three\nd. four"), ("I", "III. three\nIV. four"), ("一, 二, 三, ...", "3. three\n4. four")],
)
def test_an_open_document_numbers_a_list_in_its_own_form(form: str, said: str) -> None:
    assert f"\n\n{said}\n\n" in document_text(open_document(form))


PAGE = '<?xml version="1.0"?><html><head><title/></head><body><h1>One</h1><p>He<a id="x"/>llo<br/>w&#246;rld</p></body></html>'


def book(page: str, **more: str) -> bytes:
    package = (
        '<package><metadata><title>Tales</title><creator>Ada</creator></metadata><manifest><item id="a" href="one%20.xhtml"/>'
        '<item id="n" properties="nav" href="n.xhtml"/></manifest><spine><itemref idref="n"/><itemref idref="a"/></spine></package>'
    )
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="OEBPS/b.opf"/></container>',
            "OEBPS/b.opf": package,
            "OEBPS/one .xhtml": page,
            "OEBPS/n.xhtml": "<p>contents</p>",
            **more,
        }
    )


def test_a_book_is_its_pages_in_their_order_also_where_xml_closes_elements() -> None:
    assert document_text(book(PAGE)) == "# Tales\nAda\n\n# One\n\nHello\nwörld\n"
    with pytest.raises(DocumentError, match="DRM"):
        document_text(book(PAGE, **{"META-INF/encryption.xml": '<e><EncryptionMethod Algorithm="aes"/></e>'}))


def test_an_export_of_evernote_is_read_note_by_note() -> None:
    page = '<![CDATA[<!DOCTYPE en-note SYSTEM "x"><en-note><div><en-todo checked="true"/>Milk&nbsp;2 l</div></en-note>]]>'
    text = document_text(
        f"<en-export><note><title>Shop</title><created>20260228T080000Z</created><tag>home</tag><content>{page}</content></note>"
        "<note><title>Two</title><content>&lt;en-note>body&lt;/en-note></content></note></en-export>".encode(),
        "enex",
    )
    assert text == "# Shop\nCreated: 2026-02-28\nTags: home\n\n[x] Milk\xa02 l\n\n\n# Two\n\nbody\n"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "old Office format"),
        (packed({"a.txt": "x"}), "none of docx, pptx"),
        (word(p("x"))[:-30], "damaged"),
        (word("<w:p>"), "damaged"),
        (word("<w:p/>"), "holds no text"),
        (packed({"mimetype": "application/vnd.oasis.opendocument.text"}), "damaged"),
    ],
)
def test_what_cannot_be_read_says_why_and_what_to_do(data: bytes, why: str) -> None:
    found = read_document(data)
    assert why in found["problem"]
    assert found["remedy"]


def test_entities_and_parts_past_the_bound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = f'<!DOCTYPE d [<!ENTITY a "b">]><w:document {W}><w:body>{p("x")}</w:body></w:document>'
    data = packed(
        {"_rels/.rels": relations(officeDocument="word/document.xml"), "word/document.xml": declared}
    )
    assert "entities" in read_document(data)["problem"]
    monkeypatch.setattr(document_package, "MAX_PART_BYTES", 500)
    assert "unpacks to more than 500 bytes" in read_document(word(p("x" * 600)))["problem"]


ODS = "application/vnd.oasis.opendocument.spreadsheet"


def sheet(rows: str) -> bytes:
    """An ods with these rows of one sheet."""
    names = "xmlns:o='o' xmlns:text='t' xmlns:table='b'"
    table = f"<table:table table:name='Costs'>{rows}</table:table>"
    content = f"<o:d {names}><o:body><o:spreadsheet>{table}</o:spreadsheet></o:body></o:d>"
    return packed({"mimetype": ODS, "content.xml": content})


def filled(said: str, columns: int = 1) -> str:
    return f"<table:table-cell table:number-columns-repeated='{columns}'><text:p>{said}</text:p></table:table-cell>"


def row(cells: str, times: int = 1) -> str:
    return f"<table:table-row table:number-rows-repeated='{times}'>{cells}</table:table-row>"


def empty(columns: int) -> str:
    return f"<table:table-cell table:number-columns-repeated='{columns}'/>"


def test_the_empty_rest_of_a_sheets_rows_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_package, "MAX_CELLS", 20)
    data = sheet(row(filled("a") + empty(16_383)) * 10 + row(empty(16_384), 1_048_000))
    assert document_text(data) == "## Costs\n\n| a |\n| --- |\n" + "| a |\n" * 9


def test_cells_stand_in_their_columns_behind_many_empty_ones() -> None:
    text = document_text(sheet(row(filled("a") + empty(300) + filled("b")) + row(filled("c", 302))))
    head, _, last = text.partition("\n\n")[2].strip().split("\n")
    assert head.split("|")[302].strip() == "b"
    assert [cell.strip() for cell in last.split("|")[1:-1]] == ["c"] * 302


def test_equal_rows_are_all_there() -> None:
    assert document_text(sheet(row(filled("a") + filled("b"), 1_200))).count("| a | b |") == 1_200


def test_a_stray_cell_far_to_the_right_makes_no_row_wide() -> None:
    rows = "".join(f"<row r='{n}'>{cell(f'A{n}', str(n))}</row>" for n in range(1, 400))
    text = document_text(workbook(f"{rows}<row r='400'>{cell('A400', '400')}{cell('XFD400', '7')}</row>"))
    assert text.endswith("| 400 | 7 |\n")
    assert "| 399 |  |" in text


def test_what_cells_name_together_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_package, "MAX_CELLS", 50)
    monkeypatch.setattr(document_package, "MAX_TEXT_CHARS", 1_000)
    long = f"<si><t>{'x' * 300}</t></si>"
    named = "".join(f"<row>{cell(f'A{n}', '0', kind='s')}</row>" for n in range(1, 10))
    diagonal = "".join(f"<row>{cell(f'{chr(64 + n)}{n}', '1')}</row>" for n in range(1, 27))
    many = "".join(f"<row>{cell(f'A{n}', '1')}</row>" for n in range(1, 40))
    for data, why in (
        (workbook(named, shared=long), "characters"),
        (workbook(*[f"<row>{cell('A1', '0', kind='s')}</row>"] * 9, shared=long), "characters"),
        (workbook(diagonal), "characters"),
        (workbook(many, many), "more than 50 cells"),
        (sheet(row(filled("x" * 100), 30)), "characters"),
        (sheet(row(filled("x", 8), 8)), "more than 50 cells"),
        (sheet(row(empty(99_999_999) + filled("x"))), "more than 50 cells"),
    ):
        assert why in read_document(data)["problem"], why


def test_two_parts_of_one_name_and_deep_elements_are_read_or_said() -> None:
    file = io.BytesIO(word(p("first")))
    body = f"<w:document {W}><w:body>{p('second')}</w:body></w:document>"
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("word/document.xml", body)
    assert document_text(file.getvalue()) == "second\n"
    for name in ("w:sdt", "w:tbl", "w:p", "w:ins"):
        deep = f"<{name}>" * 3_000 + p("low") + f"</{name}>" * 3_000
        assert "holds no text" in read_document(word(deep))["problem"]
    controls = "<w:sdt>" * 3_000 + "<w:tr/>" + "</w:sdt>" * 3_000
    assert "cannot read" in read_document(word(f"<w:tbl>{controls}</w:tbl>"))["problem"]


def test_more_parts_than_the_bound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_package, "MAX_PARTS", 3)
    assert "more than 3 parts" in read_document(word(p("x"), styles="", numbering=""))["problem"]
    monkeypatch.undo()
    monkeypatch.setattr(document_package, "MAX_ALL_BYTES", 400)
    assert "unpacks to more than 400 bytes" in read_document(word(p("x" * 300)))["problem"]


def test_a_slide_that_is_not_there_leaves_the_others() -> None:
    assert "## Slide 2 (hidden)" in document_text(slides(lost="slide9"))


def test_an_archive_with_backslashes_in_its_names_is_read() -> None:
    with zipfile.ZipFile(io.BytesIO(word(p("from elsewhere")))) as archive:
        parts = {name.replace("/", "\\"): archive.read(name) for name in archive.namelist()}
    assert document_text(packed(parts)) == "from elsewhere\n"


def test_signs_of_a_cell_that_xml_cannot_hold_are_read() -> None:
    shared = "<si><t>12 Main St_x000D_&#10;Springfield</t></si><si><t>max_x005F_x0041_size</t></si>"
    said = "<c r='C1' t='inlineStr'><is><t>a_x0009_b</t></is></c><c r='D1' t='str'><f>X()</f><v>c_x000D_d</v></c>"
    row = f"<row>{cell('A1', '0', kind='s')}{cell('B1', '1', kind='s')}{said}</row>"
    assert "| 12 Main St Springfield | max_x0041_size | a b | c d |" in document_text(
        workbook(row, shared=shared)
    )


def test_amounts_show_the_decimals_of_their_format_and_lose_none() -> None:
    """A person sees 12.50 and 007; what a number has beyond its format is its value, and stays."""
    styles = (
        '<styleSheet><numFmts><numFmt numFmtId="170" formatCode="#,##0.00\\ &quot;EUR&quot;"/>'
        '<numFmt numFmtId="171" formatCode="0.0%"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="2"/>'
        '<xf numFmtId="170"/><xf numFmtId="171"/></cellXfs></styleSheet>'
    )
    rows = (
        cell("A1", "12.5", 1) + cell("B1", "12.5", 2) + cell("C1", "0.5", 3) + cell("D1", "12.5"),
        cell("A2", "3", 1) + cell("B2", "1.23456", 2) + cell("C2", "0.12345", 3) + cell("D2", "1e22", 1),
    )
    data = workbook(
        "".join(f'<row r="{number}">{cells}</row>' for number, cells in enumerate(rows, 1)), styles=styles
    )

    said = document_text(data)

    assert "| 12.50 | 12.50 EUR | 50.0% | 12.5 |" in said
    assert "| 3.00 | 1.23456 EUR | 12.345% | 1e+22 |" in said


def test_a_cell_that_is_a_link_names_its_page() -> None:
    link = (
        '<hyperlink xmlns:r="http://r" ref="A1" r:id="hyperlink1"/><hyperlink ref="B1" location="Sheet2!A1"/>'
    )
    data = workbook(
        f'<row r="1">{cell("A1", "5")}{cell("B1", "6")}</row></sheetData><hyperlinks>{link}</hyperlinks><sheetData>',
        beside={
            "xl/worksheets/_rels/0.xml.rels": relations(hyperlink1="https://a.example/eel"),
        },
    )

    assert "| [5](https://a.example/eel) | 6 |" in document_text(data)


def test_a_book_may_spell_the_place_of_its_package_as_an_address() -> None:
    container = '<container><rootfile full-path="O%20B/b.opf"/></container>'
    package = (
        '<package><manifest><item id="a" href="../OEBPS/one%20.xhtml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )
    assert "Hello" in document_text(book(PAGE, **{"META-INF/container.xml": container, "O B/b.opf": package}))
