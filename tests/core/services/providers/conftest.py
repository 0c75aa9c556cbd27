"""Loads the SDKs before any test of a provider: what they say while Python compiles them is not ours to fix."""

from __future__ import annotations

import importlib
import warnings

import pytest


@pytest.fixture(scope="session", autouse=True)
def loaded_sdks() -> None:
    """Import the SDKs once, deaf to warnings of their own source (an invalid escape in google-genai 3.3.0)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("anthropic", "google.genai", "openai"):
            importlib.import_module(name)
