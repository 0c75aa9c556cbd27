"""Signals from outside and notifications to a person: one inbox in, one route out."""
