"""Structured facts: read from YAML files that people edit, checked, indexed, ranked and kept in step."""
