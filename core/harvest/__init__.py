"""The harvest: conversations read for what stays useful, reviewed by a person, applied and undone."""
