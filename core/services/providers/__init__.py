"""Clients of model providers, one module a vendor, all behind `Provider`."""
