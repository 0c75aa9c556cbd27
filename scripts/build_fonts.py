"""Builds assets/fonts from Debian and PyPI packages: `make fonts`. For maintainers; the results are committed."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scripts.fontmerge import Fit, Merged, Source, celled, centred, natural

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "assets" / "fonts"
WORK = ROOT / "build" / "fonts"
DEBIAN = ("fonts-inter", "fonts-jetbrains-mono", "fonts-noto-core", "fonts-noto-cjk")
PYPI = ("fontawesomefree==6.6.0", "imgui-bundle==1.93.0")  # the second carries Noto Emoji as a static font

MONO_CELL = 600  # JetBrains Mono's advance in UPM units
ICON_WIDTH = 1250  # every icon the same width, so that lists of "icon text" line up
HAN_FACE = 2  # the SC member of the Noto Sans CJK collection

COPYRIGHTS = (
    "Copyright 2016-2022 The Inter Project Authors; 2020 The JetBrains Mono Project Authors; "
    "2010-2021 Google LLC and Adobe (Noto, Noto CJK, Noto Emoji); 2024 Fonticons, Inc. (icons)"
)

# Joiners, direction marks, variation selectors, skin tones, tags: no fallback box for what shows nothing.
INVISIBLE = [
    *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFE00, 0xFE10),
    0xFEFF, *range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080),
]  # fmt: skip
CJK_BLOCKS = ((0x3000, 0x33FF), (0xFF00, 0xFFEF))
HAN_HANGUL = ((0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF))
BOX_DRAWING = (0x2500, 0x259F)
ARABIC_LIGATURES = ((0xFC00, 0xFDFF),)  # not used by gui/markdown/blocks.py


def in_blocks(code: int, blocks: tuple[tuple[int, int], ...]) -> bool:
    """True if a code point lies in one of the inclusive ranges."""
    return any(first <= code <= last for first, last in blocks)


def is_icon(code: int) -> bool:
    """True if a code point is in the private use area, where the icons live."""
    return 0xE000 <= code <= 0xF8FF


def is_text(code: int) -> bool:
    """True if a code point is a printable character outside the private use area."""
    return code >= 0x20 and not is_icon(code) and not in_blocks(code, ARABIC_LIGATURES)


def is_basic_text(code: int) -> bool:
    """True if a code point is text of the basic plane: no game tiles, no mathematical alphabets."""
    return code <= 0xFFFF and is_text(code)


def double_byte(codec: str, first: tuple[int, int], second: tuple[int, int]) -> set[int]:
    """Return what two bytes, each in its inclusive range, mean in a CJK encoding."""
    pairs = (bytes((a, b)) for a in range(first[0], first[1] + 1) for b in range(second[0], second[1] + 1))
    return {ord(text) for pair in pairs if len(text := pair.decode(codec, "ignore")) == 1}


def common_cjk() -> frozenset[int]:
    """Return the first levels of GB 2312, JIS X 0208 and Big5, and the Hangul of KS X 1001: everyday writing."""
    return frozenset(
        double_byte("gb2312", (0xB0, 0xD7), (0xA1, 0xFE))
        | double_byte("euc_jp", (0xB0, 0xCF), (0xA1, 0xFE))
        | double_byte("big5", (0xA4, 0xC6), (0x40, 0xFE))
        | double_byte("euc_kr", (0xB0, 0xC8), (0xA1, 0xFE))
    )


def wide_cjk(code: int) -> bool:
    """Accept kana, CJK punctuation, all unified Han of the basic block and all Hangul syllables."""
    return in_blocks(code, CJK_BLOCKS + HAN_HANGUL)


def everyday_cjk() -> Callable[[int], bool]:
    """Return a filter for kana, CJK punctuation and the characters of `common_cjk`."""
    common = common_cjk()
    return lambda code: in_blocks(code, CJK_BLOCKS) or (code in common and in_blocks(code, HAN_HANGUL))


@dataclass(frozen=True, slots=True)
class Face:
    """One font to build: its base, the Noto style behind it, and how much CJK it carries."""

    name: str
    family: str
    style: str
    base: str
    noto_style: str
    cjk_style: str
    cjk: Callable[[int], bool]
    is_mono: bool = False


def faces() -> tuple[Face, ...]:
    """Return the fonts of the program."""
    sans, mono, everyday = "Slop UI Sans", "Slop UI Mono", everyday_cjk()
    inter, jetbrains = "opentype/inter/Inter-{}.otf", "truetype/jetbrains-mono/JetBrainsMono-{}.ttf"
    return (
        Face(
            name="SlopSans-Regular",
            family=sans,
            style="Regular",
            base=inter.format("Regular"),
            noto_style="Regular",
            cjk_style="Regular",
            cjk=wide_cjk,
        ),
        Face(
            name="SlopSans-SemiBold",
            family=sans,
            style="SemiBold",
            base=inter.format("SemiBold"),
            noto_style="Bold",
            cjk_style="Bold",
            cjk=everyday,
        ),
        Face(
            name="SlopSans-Italic",
            family=sans,
            style="Italic",
            base=inter.format("Italic"),
            noto_style="Italic",
            cjk_style="Regular",
            cjk=everyday,
        ),
        Face(
            name="SlopMono-Regular",
            family=mono,
            style="Regular",
            base=jetbrains.format("Regular"),
            noto_style="Regular",
            cjk_style="Regular",
            cjk=everyday,
            is_mono=True,
        ),
    )


def sources(face: Face, work: Path) -> tuple[Source, ...]:
    """Return the fonts a face is made of, most wanted first: a code point is taken from the first that has it."""
    fonts, noto = work / "debian/usr/share/fonts", "truetype/noto/Noto"
    fit: Fit = celled(MONO_CELL) if face.is_mono else natural
    rare = (
        is_text if face.cjk is wide_cjk else is_basic_text
    )  # every font size loads its file again: keep it small
    upright = "Bold" if face.noto_style == "Bold" else "Regular"

    def text(path: str, wanted: Callable[[int], bool] = is_text) -> Source:
        return Source(path=fonts / path, wanted=wanted, fit=fit)

    solid = next((work / "pypi/fontawesomefree").rglob("webfonts/fa-solid-900.ttf"))
    emoji = next((work / "pypi/imgui_bundle").rglob("NotoEmoji-Regular.ttf"))
    return (
        Source(path=fonts / face.base, wanted=is_text, fit=natural),
        Source(path=solid, wanted=is_icon, fit=centred(2 * MONO_CELL if face.is_mono else ICON_WIDTH)),
        text(
            "truetype/jetbrains-mono/JetBrainsMono-Regular.ttf", lambda code: in_blocks(code, (BOX_DRAWING,))
        ),
        text(f"{noto}Sans-{face.noto_style}.ttf"),
        text(f"{noto}SansMath-Regular.ttf", rare),
        text(f"{noto}SansSymbols-{upright}.ttf"),
        Source(path=emoji, wanted=is_text, fit=fit),
        text(f"{noto}SansSymbols2-Regular.ttf", rare),
        *(
            text(f"{noto}Sans{script}-{upright}.ttf")
            for script in ("Hebrew", "Arabic", "Thai", "Devanagari", "Armenian", "Georgian")
        ),
        Source(
            path=fonts / f"opentype/noto/NotoSansCJK-{face.cjk_style}.ttc",
            wanted=face.cjk,
            fit=fit,
            face=HAN_FACE,
        ),
    )


def fetch(work: Path) -> None:
    """Download and unpack the packages into `work`; nothing is installed. Needs apt, dpkg-deb and uv."""
    debian = work / "debian"
    debian.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", *DEBIAN], cwd=work, check=True)
    for package in work.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, debian], check=True)
    target = ["--target", str(work / "pypi"), "--python", sys.executable]
    subprocess.run(["uv", "pip", "install", "--no-deps", *target, *PYPI], check=True)


def build(face: Face, work: Path, out: Path) -> None:
    """Merge one face and write it, saying what came from where."""
    started = time.perf_counter()
    merged = Merged()
    for source in sources(face, work):
        print(f"  {merged.add(source):6,} code points from {source.path.name}", flush=True)
    merged.add_empty(INVISIBLE)
    path = out / f"{face.name}.ttf"
    base = sources(face, work)[0]
    merged.save(path, like=base, family=face.family, style=face.style, copyrights=COPYRIGHTS)
    size_mb = path.stat().st_size / 1e6
    print(
        f"{path.name}: {len(merged.cmap):,} code points, {size_mb:.1f} MB, {time.perf_counter() - started:.0f} s"
    )


def main() -> None:
    """Fetch the packages unless they are there, then build every face."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--work", type=Path, default=WORK, help="where packages are unpacked (default: build/fonts)"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="where the fonts go (default: assets/fonts)")
    parser.add_argument("--fresh", action="store_true", help="fetch the packages again")
    options = parser.parse_args()
    if options.fresh:
        shutil.rmtree(options.work, ignore_errors=True)
    if not (options.work / "pypi").exists():
        fetch(options.work)
    options.out.mkdir(parents=True, exist_ok=True)
    for face in faces():
        build(face, options.work, options.out)


if __name__ == "__main__":
    main()
