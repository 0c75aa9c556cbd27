"""Attention: when an autonomous discussion thinks next, and when it rests."""
