"""Notifications: messages owed to the shop's application. Owns the outbox; delivery comes after the commit."""
