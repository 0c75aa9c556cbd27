"""The Caching panel, and what is asked before money is lost."""
