"""The Harvest panel."""
