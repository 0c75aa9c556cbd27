"""Builds `assets/prices.json`, what the program reads of the price data of genai-prices, from the library as it is installed.

    python -m scripts.build_prices

A line for each vendor, in the library's order, which is that of its search. Run it for each new release of the library, and change
`PACKAGED_VERSION` and `PACKAGED_DAY`.
"""

from __future__ import annotations

import msgspec

from core.services.spending.price_data import FILE, library_prices


def prices_text() -> bytes:
    """The file's bytes."""
    encoder = msgspec.json.Encoder(decimal_format="number")
    return b"[\n" + b",\n".join(encoder.encode(one) for one in library_prices().providers) + b"\n]\n"


if __name__ == "__main__":
    FILE.write_bytes(prices_text())
