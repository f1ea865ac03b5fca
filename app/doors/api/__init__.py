"""The door for the shop's systems: /api/v1. Translates, opens the transaction, answers; every no is a problem."""

from flask import Flask, Response, request

from app.base.runtime import Runtime
from app.doors.api import events, grants, ledger, payments, problems, wallets
from app.doors.api.openapi import describe
from app.doors.api.room import PREFIX

__all__ = ["register"]


def register(app: Flask, runtime: Runtime) -> None:  # noqa: ARG001  every door is registered alike
    """Adds /api/v1 to the application."""
    app.before_request(_lost)
    describe(app, (payments.room, events.room, ledger.room, wallets.room, grants.room))


def _lost() -> Response | None:
    """An address or a method that the API doesn't have belongs to no blueprint: it is told apart by its path."""
    if request.routing_exception is not None and request.path.startswith((f"{PREFIX}/", "/api/")):
        return problems.failed(request.routing_exception)
    return None
