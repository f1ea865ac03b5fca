"""Intake: verified events, each kept exactly once with its bytes; deliveries, decisions, the queue, rejections."""
