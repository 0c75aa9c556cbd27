"""Where a person's data lies, under the names that people know."""

from core.base.paths import home_dir, knowledge_dir

__all__ = ["home_dir", "knowledge_dir"]
