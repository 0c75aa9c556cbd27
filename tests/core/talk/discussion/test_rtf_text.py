"""Rich text as the programs that write it store it: the words that a person reads in it."""

from __future__ import annotations

import pytest

from core.talk.discussion.document_text import document_text

TEXTEDIT = rb"""{\rtf1\ansi\ansicpg1252\cocoartf2761
{\fonttbl\f0\fswiss\fcharset0 Helvetica;\f1\fnil\fcharset0 LucidaGrande;}
{\*\listtable{\list{\listlevel{\*\levelmarker \{disc\}}{\leveltext\'01\uc0\u8226 ;}}}}
\pard\f0\fs24 \cf0 Plan for M\'fcller \uc0\u8364 20\
{\listtext	\uc0\u8226 	}Sow beans\
{\listtext	\uc0\u8226 	}Water\
}"""


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (TEXTEDIT, "Plan for Müller €20\n\t•\tSow beans\n\t•\tWater\n"),
        (
            rb"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0\fcharset204 Times;}}\f0 \'cf\'f0\'e8\'e2\'e5\'f2\par}",
            "Привет\n",
        ),
        (rb"{\rtf1\ansi\uc1 \u-10179?\u-8704? \u8220\'93q\u8221\'94\par}", "😀 “q”\n"),
        (
            rb"{\rtf1{\trowd\intbl Item\cell Price\cell\row}{\trowd\intbl Pump\cell 20\cell\row}\pard End\par}",
            "Item|Price|\nPump|20|\nEnd\n",
        ),
        (
            rb"{\rtf1 Sealed{\super\chftn}{\footnote\pard\plain {\super\chftn} Not in winter}.\par}",
            "Sealed [Note]  Not in winter.\n",
        ),
        (
            rb"{\rtf1 Old{\super\chftn}{\*\footnote\chftn\~\plain\pard Of 1604.\par} wall\par}",
            "Old [Note] \xa0Of 1604.\n wall\n",
        ),
        (rb"{\rtf1 Seen {\rtlch\v\insrsid1 unseen }words, {\v0 these} too\par}", "Seen words, these too\n"),
        (
            rb"{\rtf1 It {\deleted\revauthdel1 never }leaks {\deleted0 at} 10{\super 6} m\par}",
            "It leaks at 10^6 m\n",
        ),
        (
            rb"{\rtf1 C:\\deleted, C:\\footnote, \\\\srv\\super 6\par}",
            "C:\\deleted, C:\\footnote, \\\\srv\\super 6\n",
        ),
        (
            rb"{\rtf1 A\par{\shp{\*\shpinst\shpleft1{\sp{\sn fill}{\sv 7}}{\shptxt \pard In a box\par}}{\shprslt B}}C\par}",
            "A\n\nIn a box\nC\n",
        ),
        (
            (
                rb'{\rtf1 See {\field\fldedit{\*\fldinst {\rtlch\af0 \insrsid1  HYPERLINK "https://a.example/x" }{\*\datafield 00d0}}{\fldrslt {\ul terms}}}\par'
                rb' or {\field{\*\fldinst{HYPERLINK "https://b.example/"}}{\fldrslt https://b.example}}, page {\field{\*\fldinst{PAGE}}{\fldrslt 3}}.\par}'
            ),
            "See [Link https://a.example/x] terms\nor https://b.example, page 3.\n",
        ),
        (rb"{\rtf1 A{\pict\pngblip 89504e470d0a1a0a}B{\info{\title My title}}\par}", "AB\n"),
    ],
    ids=[
        "TextEdit",
        "Cyrillic",
        "emoji",
        "table",
        "footnote",
        "footnote as a destination that may be left out",
        "hidden words",
        "deleted words",
        "paths",
        "box",
        "links",
        "picture",
    ],
)
def test_the_words_of_rich_text_are_read(source: bytes, text: str) -> None:
    assert document_text(source) == text
