"""Razão: between payment providers and the shop, each payment confirmed exactly once."""

__version__ = "0.1.0"
