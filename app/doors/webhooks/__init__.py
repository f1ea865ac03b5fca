"""The door for providers: proves who calls, stores the event, answers. Nothing is decided here."""

from flask import Flask

from app.base.runtime import Runtime
from app.doors.webhooks.bell import Bell
from app.doors.webhooks.directory import Directory
from app.doors.webhooks.views import blueprint

__all__ = ["register"]


def register(app: Flask, runtime: Runtime) -> None:
    """Adds /webhooks/<slug> to the application."""
    app.extensions["razao.directory"] = Directory(runtime)
    app.extensions["razao.bell"] = Bell(runtime)
    app.register_blueprint(blueprint)
