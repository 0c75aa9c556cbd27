"""Small exports of note programs, in the shapes of public ones."""

from __future__ import annotations

import json

KEEP = json.dumps(
    {
        "color": "DEFAULT",
        "isTrashed": False,
        "isPinned": False,
        "isArchived": True,
        "textContent": "lapwing eggs",
        "title": "Shop list",
        "userEditedTimestampUsec": 1441394812887000,
        "createdTimestampUsec": 1351594800000000,
        "listContent": [
            {"textHtml": "<p>milk</p>", "text": "milk", "isChecked": True},
            {"textHtml": "<p>oat bread</p>", "text": "oat bread", "isChecked": False},
        ],
        "labels": [{"name": "Home"}, {"name": "To buy"}],
    },
    separators=(",", ":"),
).encode()
"""Made on 2012-10-30, edited in 2015."""

DAY_ONE = json.dumps(
    {
        "metadata": {"version": "1.0"},
        "entries": [
            {
                "uuid": "AAAA1111BBBB2222CCCC3333DDDD4444",
                "creationDate": "2021-07-22T22:30:00Z",
                "timeZone": "Europe/Paris",
                "text": "# Morning in Paris\n\n![](dayone-moment://2A69239A5B364348)\n\nCoffee by the Seine.",
                "tags": ["travel", "paris"],
                "isPinned": False,
                "starred": True,
                "location": {
                    "latitude": 48.8566,
                    "placeName": "Rive Gauche",
                    "localityName": "Paris",
                    "country": "France",
                },
            },
            {
                "creationDate": "2022-01-02T09:00:00Z",
                "richText": json.dumps(
                    {"contents": [{"text": "Snow on "}, {"text": "the weir."}, {"embeddedObjects": []}]}
                ),
            },
        ],
    },
    indent=2,
).encode()
"""Half past midnight in Paris is still the day before in UTC."""

CANVAS = (
    b'{\n\t"nodes":[\n\t\t{"id":"a1","type":"text","text":"# Idea\\nA hovercraft","x":0,"y":0},'
    b'\n\t\t{"id":"b1","type":"group","label":"Later","x":0,"y":9}\n\t],\n\t"edges":[]\n}'
)
NOTEBOOK = (
    b'{"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["# Gauge\\n", "Less the barometer."]}, {"cell_type": "code",'
    b' "source": "r = o - p", "outputs": [{"output_type": "stream", "text": ["3.2"]}]}], "metadata": {}, "nbformat": 4}'
)
ROAM = b'[{"title": "Kiln", "children": [{"string": "Cone 6", "children": [{"string": "nine hours", "uid": "b"}]}]}]'
OUTLINE = (
    b"<opml version='2.0'><head><title>Garden</title></head><body><outline text='Beds'>"
    b"<outline text='Mulch' _note='with seaweed'/></outline></body></opml>"
)
