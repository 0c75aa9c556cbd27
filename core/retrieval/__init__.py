"""Search over notes, knowledge, past discussions and project files: a complement to curation, off by default."""
