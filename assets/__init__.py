"""Fonts, icon names, theme tokens and the licences that come with them."""
