"""The payment: what is expected, its names, its state and the lock on it; confirmation and refunds both stand on it."""
