"""A PSP on your desk: speaks each provider's protocol truthfully, with its bad habits. For people and for tests."""
