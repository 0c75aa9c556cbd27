"""The wheel of the weights: data alone, judged by its hash, the same each time."""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from scripts.build_weights import ALL, MODEL, Weights, WeightsError, build, source_file


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Weights]:
    weights, licence = tmp_path / "w.gguf", tmp_path / "L"
    weights.write_bytes(b"GGUF weights")
    licence.write_text("Apache License")
    return weights, licence, MODEL._replace(sha256=hashlib.sha256(b"GGUF weights").hexdigest())


def test_the_wheel_holds_weights_licence_and_what_they_are(
    tmp_path: Path, files: tuple[Path, Path, Weights]
) -> None:
    weights, licence, kind = files
    with zipfile.ZipFile(build(tmp_path, weights, licence, kind=kind)) as wheel:
        names = {name.rpartition("/")[2]: name for name in wheel.namelist()}
        about = Parser().parsestr(wheel.read(names["METADATA"]).decode())
        record = [line.split(",") for line in wheel.read(names["RECORD"]).decode().splitlines()]
        hashes = {
            name: "sha256="
            + base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).decode().rstrip("=")
            for name in wheel.namelist()
            if name != names["RECORD"]
        }
        assert wheel.read(names[kind.file]) == b"GGUF weights"

    assert (about["Name"], about["License-Expression"]) == ("manual-slop-weights", "Apache-2.0")
    needs = tomllib.loads(kind.project.read_text())["project"].get("dependencies")
    assert about.get_all("Requires-Dist") == needs
    assert kind.sha256 in str(about.get_payload())
    assert {row[0]: row[1] for row in record if row[1]} == hashes


def test_the_same_weights_give_the_same_bytes(tmp_path: Path, files: tuple[Path, Path, Weights]) -> None:
    weights, licence, kind = files
    wheels = [build(tmp_path / name, weights, licence, kind=kind).read_bytes() for name in "ab"]

    assert wheels[0] == wheels[1]


def test_other_weights_than_those_that_are_named_are_refused(
    tmp_path: Path, files: tuple[Path, Path, Weights]
) -> None:
    with pytest.raises(WeightsError, match=MODEL.sha256):
        build(tmp_path / "out", *files[:2])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ALL)
def test_the_pinned_wheel_carries_the_weights_that_are_named(kind: Weights) -> None:
    with source_file(kind.file, kind.source).open("rb") as weights:
        assert hashlib.file_digest(weights, "sha256").hexdigest() == kind.sha256


@pytest.mark.parametrize(("extra", "kind"), [("embedded", ALL[0]), ("languages", ALL[1])])
def test_the_extra_asks_for_the_package_that_is_built(extra: str, kind: Weights) -> None:
    root = kind.project.parents[2] / "pyproject.toml"
    name = kind.package.replace("_", "-")
    program, about = (tomllib.loads(path.read_text())["project"] for path in (root, kind.project))
    (asked,) = program["optional-dependencies"][extra]
    least = re.sub(r"(\.0)+$", "", about["version"])
    assert (asked, about["name"]) == (f"{name}>={least},<2", name)
