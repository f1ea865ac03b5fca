"""Refunds and chargebacks: money going back, once, whoever reports it and however often."""
