"""Paths of a person's data, under the names that people know."""

from core.base.paths import home_dir, knowledge_dir
from core.knowledge.files import file_id_for_path

__all__ = ["file_id_for_path", "home_dir", "knowledge_dir"]
