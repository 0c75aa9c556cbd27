"""Fields that stand before the text of a note, by the conventions of the programs that write notes.

YAML between dashes (Obsidian, Joplin, Dendron, Jekyll, Quarto), TOML between pluses (Hugo, Zola), an object of JSON (Hugo),
keywords and drawers (Org), attributes (AsciiDoc, reStructuredText), lines of `key: value` (TiddlyWiki, MultiMarkdown, Pelican).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from core.kernel.codecs import TomlError, read_json, read_toml
from core.kernel.frame import one_line
from core.kernel.patterns import late
from core.kernel.search_terms import day_named, day_of_time
from core.kernel.values.retrieval import SourceHead
from core.knowledge.facts.yaml_forms import YamlFault, read_yaml
from core.talk.context.outline.definitions import first_heading

MAX_BLOCKS = 4
"""Blocks one behind the other that are read: programs that add their own put it before a person's."""

MAX_WORDS = 1_000
"""Characters of a value that is no YAML, which counts as the words that it is."""

MAX_LINES = 400
"""Lines of a block that has no end of its own."""

_KNOWN_KEYS = frozenset(
    {
        *(
            "title",
            "tags",
            "tag",
            "date",
            "created",
            "modified",
            "keywords",
            "category",
            "categories",
            "author",
        ),
        *("labels", "label", "topics", "aliases", "alias", "updated", "creation-date"),
    }
)
"""Lines of `key: value` have one of these keys, or they are a text."""

_LISTS = frozenset({"tags", "tag", "keywords", "categories", "aliases"})
"""Fields to which each block adds; of any other field the last block's value counts."""

_TABLES = frozenset({"date", "taxonomies", "taxonomy", "myst", "html_meta", "metadata"})
"""Tables whose fields count as the note's own."""

_YAML_BLOCK = late(r"(?:[ \t]*\n)*---[ \t]*\n(.*?)(?<=\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
"""A block between two lines of dashes: the first begins a note, blank lines aside."""
_TOML_BLOCK = late(r"(?:[ \t]*\n)*\+\+\+[ \t]*\n(.*?)(?<=\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_JSON_BLOCK = late(r"\{[ \t]*\n.*?\n\}[ \t]*(?:\n|\Z)", re.DOTALL)
_OPEN_YAML_BLOCK = late(
    r"((?:[^\s:#-][^\n:]{0,39}:(?:[ \t][^\n]*|)\n|[ \t]*-[ \t]+[^\n]*\n){1,60})---[ \t]*(?:\n|\Z)"
)
"""Fields of YAML above one line of dashes. Source: hexo.io, front-matter: the dashes before it may be missing (read 2026-11)."""
_FIELD = late(r"[^\s#\-'\"\[{&*!|>%@`][^:\n]*:(?:[ \t]|$)|['\"][^'\"\n]*['\"]:(?:[ \t]|$)")
"""Begin of a field at the left edge."""
_MARKED_VALUE = late(r"^([ \t]*(?:-|[\w-]{1,40}:)[ \t]+)(#[^\s#\n][^\n]*)$", re.MULTILINE)
"""A value that begins with the mark of a tag, which YAML takes for a comment."""
_ORG_KEYWORD = late(r"#\+(\w{1,40}(?:\[\])?):(.*)")
_ATTRIBUTE = late(r":([\w][\w -]{0,39}):(?:[ \t]+(.*)|[ \t]*)$")
_ADOC_TITLE = late(r"(?:(?://[^\n]*)?\n)*= (\S[^\n]*)")
_ADOC_REVISION = late(r"v?\d[\w.-]{0,20},[ \t]*([^:\n]{6,40})(?::|$)")
_RST_TITLE = late(r"(?:([=#*~^-])\1{2,}[ \t]*\n)?( ?)(\S[^\n]*)\n([=#*~^\"'+-])\4{2,}[ \t]*\n")
_RST_COMMENTS = late(r"(?:\.\.[ \t][^\n]*\n(?:[ \t]+\S[^\n]*\n|[ \t]*\n)*)+")
"""Comments, labels and directives that stand before a title."""
_RST_META = late(r"^\.\.[ \t]+(\w{1,40}):[ \t]+(\S[^\n]*)", re.MULTILINE)
"""Fields of a note in its comments. Source: getnikola.com, handbook: metadata fields (read 2026-11)."""
_HEADER = late(r"([A-Za-z][\w .-]{0,39}):(?:[ \t]+(.*)|[ \t]*)$")


class NoteFields(msgspec.Struct, frozen=True):
    """Fields that stand before the text of a note.

    Args:
        fields: by lower-case key; bad_lines: numbers in the note, from 1, of fields that are no YAML.
        end: characters up to the text behind it.
    """

    fields: Mapping[str, Any] = msgspec.field(default_factory=dict)
    bad_lines: tuple[int, ...] = ()
    end: int = 0


class FrontField(NamedTuple):
    """A field of a block: line from 0 in the block, key, value, and whether its block's language cannot say it."""

    line: int
    key: str
    value: Any
    is_bad: bool = False


class FrontBlock(NamedTuple):
    """Fields of a block; start, end: characters of the note up to its first line and behind its last one."""

    fields: tuple[FrontField, ...]
    start: int
    end: int


def read_front_matter(text: str) -> NoteFields:
    """Read the blocks at the begin of a note, of a field that two of them have the later one; tags and aliases add up. Raises nothing.

    A field that is no YAML counts as the words behind its colon, where it is one line; the others count as they are.

    Args:
        text: LF line ends.
    """
    fields: dict[str, Any] = {}
    bad: list[int] = []
    end = 0
    for _ in range(MAX_BLOCKS):
        block = next(filter(None, (read(text, end) for read in _BLOCKS)), None)
        if block is None:
            break
        line = text.count("\n", 0, block.start) + 1
        own: dict[str, Any] = {}
        for field in block.fields:
            bad += [line + field.line] if field.is_bad else []
            if field.key:
                own[field.key] = field.value
        fields |= {key: _joined(fields.get(key), value, key) for key, value in own.items()}
        end = block.end
    return NoteFields(fields=fields, bad_lines=tuple(bad), end=end)


def header_lines(text: str, start: int) -> FrontBlock | None:
    """Lines of `key: value` with one of the known keys at a place in a text, up to a blank line; None where there are none."""
    fields: list[FrontField] = []
    end = start
    for number, (line, past) in enumerate(_lines(text, start)):
        found = _HEADER.match(line)
        if found is not None:
            fields.append(
                FrontField(line=number, key=found[1].strip().lower(), value=(found[2] or "").strip())
            )
        elif line.strip() or not fields:
            return None
        else:
            break
        end = past
    is_known = any(field.key in _KNOWN_KEYS and field.value for field in fields)
    return FrontBlock(fields=tuple(fields), start=start, end=end) if is_known else None


def _joined(before: Any, value: Any, key: str) -> Any:
    if key not in _LISTS or before is None:
        return value
    return [
        *(before if isinstance(before, list) else [before]),
        *(value if isinstance(value, list) else [value]),
    ]


def _yaml(text: str, end: int) -> FrontBlock | None:
    found = _YAML_BLOCK.match(text, end)
    if found is None or (end and not _says_fields(found[1])):
        return None
    return FrontBlock(fields=tuple(_yaml_fields(found[1])), start=found.start(1), end=found.end())


def _open_yaml(text: str, end: int) -> FrontBlock | None:
    found = None if end else _OPEN_YAML_BLOCK.match(text)
    if found is None:
        return None
    fields = tuple(_yaml_fields(found[1]))
    is_known = any(field.key in _KNOWN_KEYS and field.value and not field.is_bad for field in fields)
    return FrontBlock(fields=fields, start=0, end=found.end()) if is_known else None


def _toml(text: str, end: int) -> FrontBlock | None:
    found = _TOML_BLOCK.match(text, end)
    if found is None:
        return None
    try:
        fields = _flat(read_toml(found[1]))
    except TomlError:
        fields = {}
    return _block_of(fields, found.start(), found.end())


def _json(text: str, end: int) -> FrontBlock | None:
    found = None if end else _JSON_BLOCK.match(text)
    if found is None:
        return None
    try:
        value = read_json(found[0])
    except (ValueError, RecursionError):
        return None
    return _block_of(_flat(value), 0, found.end()) if isinstance(value, dict) else None


def _org(text: str, end: int) -> FrontBlock | None:
    """Keywords at the top of an Org file, and the drawer of its properties."""
    fields: dict[str, Any] = {}
    is_drawer, begin = False, end
    for line, past in _lines(text, begin):
        bare = line.strip()
        if bare.upper() in {":PROPERTIES:", ":END:"}:
            is_drawer, end = bare.upper() != ":END:", past
        elif (found := (_ATTRIBUTE if is_drawer else _ORG_KEYWORD).match(bare)) is not None:
            fields.setdefault(found[1].lower().removesuffix("[]"), (found[2] or "").strip())
            end = past
        elif bare and not bare.startswith("# -*-"):  # the line by which Emacs chooses its mode
            break
    if not fields:
        return None
    tags = [tag for tag in re.split(r"[:\s]+", str(fields.pop("filetags", ""))) if tag]
    return _block_of({**fields, **({"tags": tags} if tags else {})}, begin, end)


def _adoc(text: str, end: int) -> FrontBlock | None:
    """Title and attributes of AsciiDoc."""
    title = None if end else _ADOC_TITLE.match(text)
    if title is None:
        return None
    fields: dict[str, Any] = {"title": title[1].strip()}
    end = title.end()
    for number, (line, past) in enumerate(_lines(text, end)):
        if number and not line.strip():
            break
        if (revision := _ADOC_REVISION.match(line)) is not None:
            fields.setdefault("revdate", revision[1])
        if (found := _ATTRIBUTE.match(line)) is not None:
            fields.setdefault(found[1].lower(), (found[2] or "").strip())
        end = past
    return _block_of(fields, 0, end)


def _rst(text: str, end: int) -> FrontBlock | None:
    """Title and field list of reStructuredText."""
    if end:
        return None
    above = _RST_COMMENTS.match(text)
    start = end = above.end() if above is not None else 0
    fields: dict[str, Any] = {key.lower(): said.strip() for key, said in _RST_META.findall(text, 0, end)}
    is_told = above is not None
    if (title := _RST_TITLE.match(text, end)) is not None:
        start = end = title.end()
        fields.setdefault("title", title[3].strip())
    for line, past in _lines(text, start):
        if (found := _ATTRIBUTE.match(line)) is not None:
            fields.setdefault(found[1].lower(), (found[2] or "").strip())
            end = past
        elif line.strip():
            break
    return _block_of(fields, 0, end) if fields and (end > start or is_told) else None


def _pandoc(text: str, end: int) -> FrontBlock | None:
    """Title, authors and date in the first lines, each behind a percent sign."""
    found = None if end else _PANDOC_BLOCK.match(text)
    if found is None:
        return None
    lines = [line.lstrip("% \t").strip() for line in re.split(r"\n(?=%)", found[0])]
    fields = dict(zip(("title", "author", "date"), (" ".join(line.split()) for line in lines), strict=False))
    return _block_of(fields, 0, found.end())


_PANDOC_BLOCK = late(r"%[ \t][^\n]{1,300}\n(?:(?:%|[ \t]+\S)[^\n]{0,300}\n){1,6}(?=\n|\Z)")
"""Source: Pandoc's manual, `pandoc_title_block`: lines that begin with blanks go on (read 2026-11)."""


def _headers(text: str, end: int) -> FrontBlock | None:
    return header_lines(text, 0) if not end else None


_BLOCKS: tuple[Callable[[str, int], FrontBlock | None], ...] = (
    _yaml,
    _open_yaml,
    _toml,
    _json,
    _org,
    _adoc,
    _rst,
    _pandoc,
    _headers,
)
"""Readers of a block at a place in a note, in the order in which they are asked."""


def _lines(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Lines from a place on, each with the characters of the text up to the next one."""
    at = start
    for _ in range(MAX_LINES):
        if at >= len(text):
            return
        stop = text.find("\n", at)
        line = text[at:] if stop < 0 else text[at:stop]
        at = min(at + len(line) + 1, len(text))
        yield line, at


def _block_of(fields: Mapping[str, Any], start: int, end: int) -> FrontBlock:
    return FrontBlock(
        fields=tuple(FrontField(line=0, key=key, value=value) for key, value in fields.items()),
        start=start,
        end=end,
    )


def _flat(found: Mapping[Any, Any], depth: int = 0) -> dict[str, Any]:
    """Fields by lower-case key, those of some tables among them."""
    fields: dict[str, Any] = {}
    for name, value in found.items():
        key = str(name).strip().lower()
        if isinstance(value, dict) and key in _TABLES and depth < 3:
            fields |= {inner: one for inner, one in _flat(value, depth + 1).items() if inner not in fields}
        else:
            fields[key] = value
    return fields


def _says_fields(block: str) -> bool:
    """True for a block of fields; two rules of Markdown with words between them are no such block."""
    lines = [line for line in block.split("\n") if line.strip() and line[0] not in "# \t-"]
    return bool(lines) and all(map(_FIELD.match, lines))


def _yaml_fields(block: str) -> Iterator[FrontField]:
    block = _MARKED_VALUE.sub(_as_words, block)
    whole = read_yaml(block, as_written=True)
    if isinstance(whole, dict):
        yield from (FrontField(line=0, key=key, value=value) for key, value in _flat(whole).items())
        return
    if not isinstance(whole, YamlFault):
        return
    for first, part in _yaml_parts(block):
        value = read_yaml(part, as_written=True)
        is_bad = isinstance(value, YamlFault)
        if is_bad and "\t" in part:
            value = read_yaml(part.expandtabs(2), as_written=True)
        if isinstance(value, YamlFault) and "\n" in part.strip():
            value = read_yaml(
                part.split("\n", 1)[0], as_written=True
            )  # a line that is no field stands behind it
        if isinstance(value, dict):
            yield from (
                FrontField(line=first, key=key, value=one, is_bad=is_bad) for key, one in _flat(value).items()
            )
        elif value is not None:
            key, colon, words = part.partition(":")
            is_line = (
                bool(colon)
                and len(words) <= MAX_WORDS
                and "\n" not in part.strip()
                and "\t" not in key.strip()
            )
            name = key.strip(" '\"").lower() if is_line and words.strip() else ""
            yield FrontField(line=first, key=name, value=_unquoted(words.strip()), is_bad=True)


def _unquoted(words: str) -> str:
    """A value without the quotes around it, which a quote within made no YAML."""
    is_quoted = len(words) > 1 and words[0] == words[-1] and words[0] in "'\""
    return words[1:-1] if is_quoted else words


def _as_words(found: re.Match[str]) -> str:
    value = found[2].rstrip().replace("'", "''")
    return f"{found[1]}'{value}'"


def _yaml_parts(block: str) -> Iterator[tuple[int, str]]:
    """Each field with the lines that belong to it, and the line that it begins at."""
    lines = block.split("\n")
    starts = [at for at, line in enumerate(lines) if at == 0 or _FIELD.match(line)]
    for start, past in zip(starts, [*starts[1:], len(lines)], strict=True):
        part = "\n".join(lines[start:past])
        if part.strip():
            yield start, part


# Heads of notes: title, aliases, tags, day and description, by the conventions of many programs. No note is
# ever converted.

TITLE_CHARS, DESCRIPTION_CHARS, TAG_CHARS, MAX_TAGS = 120, 200, 40, 48

_HEAD_CHARS = 65_536
"""Characters of a note's beginning that are read for its title, tags and dates."""

_TITLES = (
    *("title", "displayname", "fulltitle"),
    *(
        "标题",
        "標題",
        "タイトル",
        "제목",
        "titel",
        "titre",
        "título",
        "titolo",
        "tytuł",
        "заголовок",
        "название",
    ),
)
_TAGS = (
    *("tags", "tag", "keywords", "categories", "category", "topics", "labels", "label", "pagetags"),
    *("documenttags", "notetags", "articletags"),
    *("标签", "標籤", "タグ", "태그", "schlagwörter", "schlagworte", "étiquettes", "motsclés", "etiquetas"),
    *("trefwoorden", "etichette", "tagi", "taggar", "теги", "метки"),
)
_DAY_FIRST = (
    *("datum", "erstellt", "fecha", "creado", "créé", "crééle", "datedecréation", "data", "criado", "creato"),
    *("aangemaakt", "utworzono", "дата", "создано"),
)
"""Fields of languages that write the day before the month. Source: Unicode CLDR, short dates of de, es, fr, it, nl, pl, pt, ru."""
_DAYS = (
    *("date", "created", "createdat", "createdtime", "creationdate", "datecreated", "pubdate", "publishdate"),
    *("published", "revdate", "day", "日期", "日付", "作成日", "创建", "创建时间", "创建日期", "날짜"),
    *(*_DAY_FIRST, "skapad"),
)
_DIGITS_DAY = late(r"\s*(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?!\d)")
_ABOUT = ("description", "desc", "summary", "abstract", "excerpt")
_ALIASES, _ROAM_ALIASES = ("aliases", "alias"), ("roamaliases", "roamalias")
"""Fields in which programs say each of these, in the order in which they count; letters alone, in lower case."""

_NOTE_HEADS_FIELD = late(
    r"^[ \t>*-]*(?:\*\*([^*\n:]{1,30}):?\*\*:?|([^\W\d][\w -]{0,29})::(?=[ \t]))[ \t]*(.+)$", re.MULTILINE
)
"""A field in a note's text: with a bold name, or with two colons as in Logseq and Dataview."""
_INLINE_FIELD = late(r"[\[(]([^\W\d][\w -]{0,29})::[ \t]*([^\]\[()\n]{1,300})[\])]")
"""A field within a sentence, as Dataview has it."""
_PLAIN_FIELD = late(
    r"^(?:[-*+][ \t]+)?((?:(?:document|note|article)[ \t])?tags?|labels?|keywords|categories|date|created): +(\S.*)$",
    re.MULTILINE | re.IGNORECASE,
)
"""A field of a plain text near its top, also in a list as Readwise has it."""
_PLAIN_CHARS = 2_000
_JOPLIN_FOOTER = late(r"\n\n(id: [0-9a-f]{32}(?:\n[a-z_]{1,40}:[^\n]*)+)\s*\Z")
"""Fields behind a note's text, as Joplin's raw export has them; the first line is the title then."""
_SIMPLENOTE_FOOTER = late(r"\n[ \t]*\nTags:[ \t]*\n((?:[ \t]+\S[^\n]{0,200}\n?){1,100})\s*\Z")
"""Tags behind a note's text, a line each, as Simplenote's export has them."""
_ZIM_TAG = late(r"(?<![^\s(,;])@(\w{1,40})")
_COLON_TAGS = late(r"[ \t]*:([\w-]{1,40}(?::[\w-]{1,40}){1,20}):[ \t]*$")
"""A line of tags between colons (zk, Vimwiki)."""
_UNDER_TITLE = late(r"(?:\s*#[^\n]*\n)?\s*")
_WORDS_TAG = r"[\w/\-\u2600-\u27bf\U0001f000-\U0001faff\u200d\ufe0f]"
_INLINE_TAG = late(
    r"(?<![^\s(,;\"'“„«。，、；：！？（「])(?<!\]\()#(?:([\w/-]+(?: [\w/-]+){1,4})#(?=[\s.,;]|$)"
    rf"|\[\[([^\[\]\n]{{1,100}})\]\]|({_WORDS_TAG}{{1,100}}(?:\.[a-z]{_WORDS_TAG}{{0,60}}){{0,6}}))"
)
"""A tag; one of several words ends with its mark, or stands in brackets."""
_ORG_TAGS = late(r"\*+[ \t].*?[ \t]:([\w@#%:]{1,200}):[ \t]*$")
"""Tags at the end of a headline of Org."""
_CODE_FENCE = late(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)]|>)[ \t]*){0,6}(`{3,}|~{3,})")
"""A fence, also within a list or a quote."""
_INLINE_CODE = late(r"`[^`\n]{0,500}`|<!--.*?-->|%%.*?%%")
_COMMENT_MARK = late(r"%%|<!--")
_LIST_ITEM = late(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_DAY_OF_FOLDERS = late(r"(?:^|/)((?:19|20)\d{2}/\d{1,2}/\d{1,2})(?:/[^/\d]*)?$")
_DAY_OF_MONTH = late(r"(?:^|/)((?:19|20)\d{2})[-_.](\d{2})/(\d{1,2})(?:\D[^/]*)?$")
_PERIOD = late(r"((?:19|20)\d{2})[-_.]?(?:W(\d\d)|Q([1-4])|(?<=[-_.])(\d\d))(?:[ _-]\D*)?\Z")
"""A week, month or quarter that a note is named after. Source: Obsidian's plugin Periodic Notes (read 2026-11-30)."""
_DENOTE = late(r"\d{8}T\d{6}(?:==[^/-]*)?--(.+?)(?:__([\w_]+))?")
_NOTION_ID = late(r"[ \t]+[0-9a-f]{32}$")
_WIKILINK = late(r"(!?)\[\[([^\[\]|\n]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]")
_LINK_PARTS = late(r"(\[\[[^\[\]\n]{1,600}\]\])")
_NO_SENTENCES = (
    r"(?:[-*+]\s+)?#{1,6}(?:\s|$)|!{1,6}\s|={2,}\s|\*+ ",  # headings: Markdown, also in a list; TiddlyWiki; AsciiDoc, wikis; Org
    r"```|\||<!--|%%|//|>\s*\[![\w-]+\]|\^[\w-]+\s*$",  # code, tables, comments, callouts, ids of blocks
    r"#\+\w+:|:\w+:|(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):\s*[<\[]",  # Org
    r"\([\w:.-]+\)=|:{3,}|\.\.(?:\s|$)",  # labels and directives: MyST, reStructuredText
    r"\[[\w.#%,=\"' -]{1,80}\]\s*$|\w+::\S*\[.*\]\s*$",  # attributes and macros of AsciiDoc
    r"<[/A-Za-z!]|(?:import|export)\s.*(?:from|[;{])|\{[%{<].*[%}>]\}\s*$|<%|<<",  # HTML, MDX, templates, macros of TiddlyWiki
    r"Created \w+ \d{1,2} \w+ \d{4}\s*$|Content-Type: text/|(?:Wiki-Format|Creation-Date): ",  # what Zim puts at the top
)
"""Begins of lines in which no sentence stands."""
_NO_SENTENCE = late(rf"\s*(?:{'|'.join(_NO_SENTENCES)})")
_COMMENT = late(
    r"%%.*?%%|<!--.*?-->|^\$\$.*?\$\$[ \t]*$"
    r"|\[!\[[^\[\]]{0,200}\]\([^()]{0,500}\)\]\([^()]{0,500}\)"
    r"|^\.\.[ \t][^\n]*\n(?:[ \t]+\S[^\n]*\n|[ \t]*\n(?=[ \t]))*",
    re.DOTALL | re.MULTILINE,
)
"""Comments and what else a program does not show as words: formulas of their own lines, linked pictures, directives of reStructuredText."""
_HEADING_MARKS = late(
    r"!\[[^\[\]]{0,500}\]\([^()]{0,1000}\)|\[\]\([^()]{0,1000}\)|\[([^\[\]]{1,500})\]\([^()]{0,1000}\)"
    r"|\A(\*{1,3}|_{1,3})([^*_]{1,300})\2\Z|\*\*([^*\s][^*]{0,299})\*\*"
)
"""Pictures and links in a heading, marks around all of it, and words in bold."""
_OTHER_HEADING = late(
    r"^(?:(={2,6}) (\S[^\n]{0,200}?) ={2,6}|<h1\b[^>\n]{0,200}>([^<>\n]{1,200})</h1>)[ \t]*$", re.MULTILINE
)
"""A heading of a wiki (Zim, DokuWiki, MediaWiki), or of HTML."""
_UNDERLINED = late(r"^[^\n]+\n=+[ \t]*$", re.MULTILINE)
_LABEL = late(r"\w{1,30}\s*:")
"""A word that stands before tags, and nothing else."""
_SENTENCE = late(r"(.+?(?:[.!?](?=\s|$)|[。！？]))", re.DOTALL)
_LINK = r"\[([^\]]{0,500})\]\([^)]{0,1000}\)"  # bounded: a note of brackets was read again from each of them
_MARKUP = late(
    rf"!{_LINK.replace('(', '(?:', 1)}|[*_`]+|==|{_LINK}|[ \t]\^[\w-]+$|^[#>\-+*]+[ \t]*(?:\[[ xX]\][ \t]*)?",
    re.MULTILINE,
)


class FieldNames(msgspec.Struct, frozen=True):
    """Names under which notes say their tags and their date, in lower case, beside those of known programs."""

    tags: tuple[str, ...] = ("tags",)
    date: tuple[str, ...] = ("date", "data")


class _ToldFields(msgspec.Struct, frozen=True):
    """Fields of a note by what they are called in letters alone: before its text and in it."""

    front: Mapping[str, Any]
    text: Mapping[str, str]

    def all(self, names: Iterable[str]) -> Iterator[Any]:
        """Values under some names: those before the text, name by name, then those in it."""
        keys = tuple(map(_bare, names))
        yield from (self.front[key] for key in keys if self.front.get(key) not in (None, ""))
        yield from (self.text[key] for key in keys if self.text.get(key))

    def first(self, names: Iterable[str]) -> str:
        """The first words under some names; empty where there are none."""
        return next(filter(None, map(_heads_text, self.all(names))), "")


def note_head(text: str, name: str, fields: FieldNames = FieldNames()) -> SourceHead:  # noqa: B008 (frozen)
    """Title, tags, date and description of a note. Raises nothing: what is not understood counts as not said.

    Args:
        text: LF line ends; name: of its file, for a note without a title.
    """
    said, body = _read(text)
    path = _without_end(name)
    title = _title(said, body, name)
    about = said.first(_ABOUT) or _first_sentence(body, title)
    is_zim = str(said.front.get("wikiformat", "")).startswith("zim")
    marked = (tag.lower() for tag in _ZIM_TAG.findall(body)) if is_zim else ()
    tags = (*with_parents((*_tags(said, fields), *_tags_of_name(path), *marked)), *inline_tags(body))
    return SourceHead(
        title=title,
        tags=tuple(dict.fromkeys(tags))[:MAX_TAGS],
        date=_date(said, fields) or _day_of_name(path),
        description=one_line(about, DESCRIPTION_CHARS),
    )


def note_names(text: str, name: str) -> tuple[str, ...]:
    """Title and aliases of a note, as they are written. `text`, `name`: as `note_head` takes them."""
    said, body = _read(text)
    aliases = [alias for value in said.all(_ALIASES) for alias in _listed(value)]
    for value in said.all(_ROAM_ALIASES):  # org-roam parts them by blanks, and quotes those that hold some
        aliases += [
            words or word for words, word in re.findall(r'"([^"]{1,300})"|([^\s"]+)', _heads_text(value))
        ]
    return tuple(filter(None, (_title(said, body, name), *map(str.strip, aliases))))


def _title(said: _ToldFields, body: str, name: str) -> str:
    heading = _bare_heading(first_heading(body)) or _other_heading(body)
    title = said.first(_TITLES) or heading or _title_of_name(_without_end(name)) or name
    return one_line(title, TITLE_CHARS)


def _other_heading(body: str) -> str:
    """The heading near the top of a text of a wiki or of HTML; empty where it is one of several sections."""
    found = _OTHER_HEADING.search(body[:_PLAIN_CHARS])
    if found is None:
        return ""
    marks = {one[1] for one in _OTHER_HEADING.finditer(body, found.end())}
    return "" if found[1] and found[1] in marks else found[2] or found[3]


def _bare_heading(heading: str) -> str:
    """A heading without its pictures, the marks around it and the addresses of its links."""
    for _ in range(2):  # a linked picture is a picture in a link
        heading = _HEADING_MARKS.sub(lambda found: found[1] or found[3] or found[4] or "", heading).strip()
    return heading


def _without_end(name: str) -> str:
    return name.rpartition(".")[0] if "." in name.rpartition("/")[2] else name


def _listed(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        yield from map(_heads_text, value)
    else:
        said = _heads_text(value)
        yield from (said, *(_WIKILINK.sub(_link_words, part).strip(" \"'") for part in said.split(",")))


def _read(text: str) -> tuple[_ToldFields, str]:
    """The fields of a note, and the text behind those that stand at its top, links as the words that they show."""
    start = text[:_HEAD_CHARS]
    front = read_front_matter(start)
    body = start[front.end :]
    if "\n\nid: " in text[-_PLAIN_CHARS:] and (footer := _JOPLIN_FOOTER.search(text[-_PLAIN_CHARS:])):
        title, _, body = start.removesuffix(footer[0]).partition("\n")
        told = dict(line.partition(": ")[::2] for line in footer[1].split("\n"))
        front = NoteFields(fields={"title": title, **told})
    elif (listed := _SIMPLENOTE_FOOTER.search(text[-_PLAIN_CHARS:])) is not None:
        body = body.removesuffix(listed[0])
        front = NoteFields(fields={"tags": [line.strip() for line in listed[1].split("\n")], **front.fields})
    said = {_bare(key): value for key, value in _PLAIN_FIELD.findall(body[:_PLAIN_CHARS])}
    said |= {_bare(key): value.strip() for key, value in _INLINE_FIELD.findall(body)}
    said |= {_bare(bold or plain): value.strip() for bold, plain, value in _NOTE_HEADS_FIELD.findall(body)}
    above = _UNDER_TITLE.match(body)
    if above is not None and (found := header_lines(body, above.end())) is not None:
        said |= {_bare(field.key): str(field.value) for field in found.fields}
        body = body[: found.start] + body[found.end :]
    return _ToldFields({_bare(key): value for key, value in front.fields.items()}, said), _shown_links(body)


def _bare(key: str) -> str:
    """A field's name in letters and digits alone, in lower case: `created_at`, `Created at` and `createdAt` are one."""
    return "".join(filter(str.isalnum, key)).lower()


def _shown_links(body: str) -> str:
    return _WIKILINK.sub(
        lambda found: found[0] if body[found.start() - 1 : found.start()] == "#" else _link_words(found), body
    )


def _link_words(found: re.Match[str]) -> str:
    """Words that a wikilink shows; an embedded file shows none."""
    return "" if found[1] else (found[3] or found[2]).strip()


def inline_tags(text: str) -> tuple[str, ...]:
    """The `#tags` in a text, outside of its code, each once; of `#a/b` also `a`. A number alone is no tag (`#12`)."""
    found: dict[str, None] = {}
    for line in _lines_without_code(text):
        for joined, linked, tag in _INLINE_TAG.findall(line) if "#" in line else ():
            name = (joined or linked or tag).lower().strip("/ ")[:TAG_CHARS]
            if name and not name.replace("/", "").isdecimal():
                found |= dict.fromkeys((name, name.partition(".")[0]))
        marked = _ORG_TAGS if line.startswith("*") else _COLON_TAGS
        if line.rstrip().endswith(":") and (headline := marked.match(line)) is not None:
            found |= dict.fromkeys(tag.lower()[:TAG_CHARS] for tag in headline[1].split(":") if tag)
    return with_parents(found)[:MAX_TAGS]


def with_parents(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags with those that they lie in: `water/cold` is one of `water`, too. The tags themselves come first."""
    given = tuple(tags)
    above = (tag.rsplit("/", count)[0] for tag in given for count in range(1, tag.count("/") + 1))
    return tuple(tag for tag in dict.fromkeys((*given, *above)) if tag)


def _lines_without_code(text: str, *, keeps_spans: bool = False) -> Iterator[str]:
    """Lines of a text but for its fenced and its indented code, and, where they are not kept, code within a line."""
    fence, before, is_list, comment = "", "", False, ""
    for line in text.split("\n"):
        if comment:
            comment = "" if comment in line else comment
            continue
        mark = _CODE_FENCE.match(line)
        is_code = line.startswith(("    ", "\t")) and not before.strip() and not is_list
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif is_code and line.strip():
            continue  # the line before stays blank: code goes on
        elif mark:
            fence = mark[1]
        else:
            has_span = not keeps_spans and ("`" in line or "<!--" in line or "%%" in line)
            shown = _INLINE_CODE.sub(" ", line) if has_span else line
            opened = _COMMENT_MARK.search(shown) if has_span else None
            comment = {"%%": "%%", "<!--": "-->"}[opened[0]] if opened else ""
            yield shown[: opened.start()] if opened else shown
        if line.strip():
            is_list = _LIST_ITEM.match(line) is not None or (is_list and line[0] in " \t")
        before = line


def _title_of_name(path: str) -> str:
    """The name of a note's file without what its program adds to it."""
    own = path.rpartition("/")[2]
    if (denote := _DENOTE.fullmatch(own)) is not None:
        return denote[1].replace("-", " ")
    return unquote(_ZETTEL_ID.sub("", _NOTION_ID.sub("", own))).replace("___", "/")


_ZETTEL_ID = late(r"\A(?:19|20)\d{10}(?:\d\d)?[ _-]+(?=[^\W\d_])")
"""The minute or second of a note before its name, as Zettelkasten programs have it."""


def _tags_of_name(path: str) -> tuple[str, ...]:
    denote = _DENOTE.fullmatch(path.rpartition("/")[2])
    return (
        tuple(tag.lower()[:TAG_CHARS] for tag in denote[2].split("_") if tag) if denote and denote[2] else ()
    )


def _day_of_name(path: str) -> str:
    """The day that a note's file, or its folders and its file, are named after, as daily notes are; empty for none."""
    own = path.rpartition("/")[2]
    folders = _DAY_OF_FOLDERS.search(path)
    month = _DAY_OF_MONTH.search(path)
    return (
        day_named(own)
        or (day_named(folders[1]) if folders else "")
        or (day_named(f"{month[1]}-{month[2]}-{month[3]}") if month else "")
        or day_named(path.rpartition("/")[0].rpartition("/")[2])
        or _first_day(_PERIOD.match(own))
    )


def _first_day(period: re.Match[str] | None) -> str:
    """The first day of a week, month or quarter, empty for none."""
    if period is None:
        return ""
    year, week, quarter, month = period.groups()
    rest = f"W{week}-1" if week else f"{month or f'{3 * int(quarter) - 2:02}'}-01"
    return day_named(f"{year}-{rest}")


def _heads_text(value: object) -> str:
    is_text = hasattr(value, "isoformat") or (
        isinstance(value, str | int | float) and not isinstance(value, bool)
    )
    return str(value).strip() if is_text else ""


def _tags(said: _ToldFields, fields: FieldNames) -> tuple[str, ...]:
    """Tags of the fields before a text, or else of those in it."""
    names = (*fields.tags, *_TAGS)
    for source in (_ToldFields(said.front, {}), _ToldFields({}, said.text)):
        words = (
            word for value in source.all(names) for word in _tag_words(value, is_front=bool(source.front))
        )
        tags = (word.strip(" #`*[]\"'/").lower()[:TAG_CHARS] for word in words)
        if found := tuple(dict.fromkeys(one_line(tag, TAG_CHARS) for tag in tags if tag)):
            return found[:MAX_TAGS]
    return ()


def _tag_words(value: Any, *, is_front: bool) -> Iterator[str]:
    """Tags of a field's value: those of a list, links, else its words parted by commas, or by blanks before a text."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from (
                _tag_words(one, is_front=True)
                if isinstance(one, list)
                else (_WIKILINK.sub(_link_words, _heads_text(one)),)
            )
        return
    text = _heads_text(value)
    is_listed = re.search("[,;]", text) is not None
    for part in _LINK_PARTS.split(text):
        link = _WIKILINK.fullmatch(part)
        yield from (
            (_link_words(link),)
            if link
            else re.split(r"[,;]|\s+#" if is_listed or not is_front else r"\s+", part)
        )


def _date(said: _ToldFields, fields: FieldNames) -> str:
    found = (value for names in (fields.date, _DAYS) for value in said.all(names))
    values = (
        _heads_text(one)[:100] for value in found for one in (value if isinstance(value, list) else [value])
    )
    day = next(filter(None, (day_named(value) or day_of_time(value) for value in values)), "")
    return day or next(
        filter(None, (_day_before_month(_heads_text(one)) for one in said.all(_DAY_FIRST))), ""
    )


def _day_before_month(value: str) -> str:
    """The day of digits alone whose first number is a day, as ISO 8601."""
    found = _DIGITS_DAY.match(value)
    return day_named(f"{found[3]}-{found[2]}-{found[1]}") if found else ""


def _first_sentence(body: str, title: str) -> str:
    """The first sentence of a text, its title aside."""
    text = "\n".join(_lines_without_code(_COMMENT.sub("", body[:8_000]), keeps_spans=True))
    for block in re.split(r"\n[ \t]*\n", _UNDERLINED.sub("", text)):
        lines = [line for line in block.strip().split("\n") if line.strip() and not _is_no_sentence(line)]
        plain = _MARKUP.sub(lambda m: m[1] or "", _INLINE_TAG.sub("", "\n".join(lines))).strip()
        if plain and plain != title and _LABEL.fullmatch(plain) is None:
            sentence = _SENTENCE.match(plain)
            return " ".join((sentence[1] if sentence else plain).split())
    return ""


def _is_no_sentence(line: str) -> bool:
    return any(
        form.match(line) is not None for form in (_NO_SENTENCE, _NOTE_HEADS_FIELD, _PLAIN_FIELD, _COLON_TAGS)
    )
