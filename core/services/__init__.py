"""Services that every feature uses: providers, settings, spending."""
