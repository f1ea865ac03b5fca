"""Doors translate: in from HTTP, shell or clock, call a capability in one transaction, and translate out."""
