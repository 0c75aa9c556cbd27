"""Gemini's generateContent and its stored prefixes."""
