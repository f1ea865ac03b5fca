"""Adapters: turn one payment provider's bytes into our words. Pure: no database, no Flask."""
