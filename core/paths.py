"""Paths of a person's data, under the names that people know."""

from core.kernel.paths import home_dir, knowledge_dir
from core.knowledge.note_files import file_id_for_path

__all__ = ["file_id_for_path", "home_dir", "knowledge_dir"]
