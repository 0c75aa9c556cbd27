"""Forgetting: a conversation or an item leaves every place that we keep, with a receipt that says so."""
