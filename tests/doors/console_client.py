"""A person at the console, through Flask's client: signs in and fills in forms as a browser does, tokens included."""

import re
from collections.abc import Callable
from contextvars import Context
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from tests.console_data import PASSWORD

_TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')


def _apart(call: Callable[..., TestResponse], *arguments: Any, **named: Any) -> TestResponse:
    """As a server does it: without the test's own application context, whose `g` would remember the last person."""
    return Context().run(call, *arguments, **named)


class Person:
    """One browser. `login` names a role: there is one person for each."""

    def __init__(self, app: Flask, login: str | None = None, language: str = "en") -> None:
        self.client = app.test_client()
        self._headers = {"Accept-Language": language}
        self._token = ""
        if login:
            answer = self.post("/sign-in", page="/sign-in", login=login, password=PASSWORD)
            assert answer.status_code == 302, answer.text

    def get(self, path: str, **headers: str) -> TestResponse:
        answer = _apart(self.client.get, path, headers=self._headers | headers)
        found = _TOKEN.search(answer.text)
        self._token = found[1] if found else self._token
        return answer

    def post(self, path: str, *, page: str | None = None, **form: Any) -> TestResponse:
        """Posts with the token of `page` (or of the page last seen)."""
        if page:
            self.get(page)
        answer = self.bare_post(path, csrf_token=self._token, **form)
        found = _TOKEN.search(answer.text) if answer.mimetype == "text/html" else None
        self._token = found[1] if found else self._token
        return answer

    def bare_post(self, path: str, **form: Any) -> TestResponse:
        """Posts exactly this form."""
        return _apart(self.client.post, path, data=form, headers=self._headers)

    def follow(self, answer: TestResponse) -> TestResponse:
        assert answer.status_code == 302, answer.text
        return self.get(answer.headers["Location"])
