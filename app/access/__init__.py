"""Access: operators and their roles, API keys, and the record of who did what."""
