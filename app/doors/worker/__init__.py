"""The door of the clock and of NOTIFY: confirms stored events in batches, and keeps the house."""
