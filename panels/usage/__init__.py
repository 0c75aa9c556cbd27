"""The Usage panel: costs and savings over time, and the limits."""
