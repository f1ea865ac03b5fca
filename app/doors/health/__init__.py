"""The door for monitors: is the process up, can it work, and the figures. Says nothing about payments or people."""

from flask import Flask

from app.base.runtime import Runtime
from app.doors.health.views import blueprint

__all__ = ["register"]


def register(app: Flask, runtime: Runtime) -> None:  # noqa: ARG001  every door is registered alike
    """Adds /healthz, /readyz and /metrics to the application."""
    app.register_blueprint(blueprint)
