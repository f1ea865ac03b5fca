"""Builds the Flask application; the only module that knows every door."""

import os
import signal

from flask import Flask
from flask_migrate import Migrate
from werkzeug.middleware.proxy_fix import ProxyFix

from app.base.db import db, engine_options, engine_url
from app.base.lifeline import tie_to_parent
from app.base.migrating import check_current
from app.base.paths import shipped
from app.base.runtime import Runtime, prepare
from app.base.settings import read
from app.doors import api, console, health, webhooks

POOL_SIZE = 16


def create_app(runtime: Runtime) -> Flask:
    """The application for one process: doors for providers, for the shop's systems and for people."""
    app = Flask(
        "razao",
        template_folder=str(shipped("templates")),
        static_folder=str(shipped("static")),
        static_url_path="/static",
    )
    app.config.update(
        RUNTIME=runtime,
        RAZAO_OWNER_URL=runtime.owner_url,
        SECRET_KEY=runtime.vault.derive("sessions"),
        SQLALCHEMY_DATABASE_URI=engine_url(runtime.app_url),
        SQLALCHEMY_ENGINE_OPTIONS=engine_options(pool_size=POOL_SIZE),
    )
    db.init_app(app)
    Migrate(app, db, directory=str(shipped("migrations")))
    webhooks.register(app, runtime)
    api.register(app, runtime)
    health.register(app, runtime)
    console.register(app, runtime)
    if runtime.settings.trusted_proxies:
        count = runtime.settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=count, x_proto=count, x_host=count)  # type: ignore[method-assign]
    return app


def from_environment() -> Flask:
    """The application as the environment configures it: what a web server's worker process loads."""
    tie_to_parent(signal.SIGKILL)  # a web server's worker has nothing to finish once its server is dead
    runtime = prepare(read(os.environ))
    check_current(runtime.app_url)
    return create_app(runtime)
