"""Tools, a module each: its arguments, its schema and its function."""
