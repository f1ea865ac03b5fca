"""The door for providers: proves who calls, stores the event, answers. Nothing is decided here."""

from flask import Flask

from app.base.runtime import Runtime
from app.doors.webhooks.views import Webhooks

__all__ = ["register"]


def register(app: Flask, runtime: Runtime) -> None:
    """Adds /webhooks/<slug> to the application, before Flask's own routing."""
    webhooks = Webhooks(app, runtime)
    app.extensions["razao.directory"] = webhooks.directory
    app.extensions["razao.bell"] = webhooks.bell
    app.wsgi_app = webhooks  # type: ignore[method-assign]
