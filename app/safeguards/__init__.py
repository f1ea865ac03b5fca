"""Rules that must hold, and the proof: the doctor tries to break each one, verify recomputes what is in the books."""
