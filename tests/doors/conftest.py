"""Callers of the API: a shop that may write, and one that may only read."""

import pytest
from flask.testing import FlaskClient

from app.access import keys
from app.base.db import transaction
from tests.doors.calling import Caller


@pytest.fixture
def shop(client: FlaskClient) -> Caller:
    """A caller whose key may write."""
    with transaction() as conn:
        return Caller(client, keys.create(conn, "shop", "write"))


@pytest.fixture
def reader(client: FlaskClient) -> Caller:
    """A caller whose key may only read."""
    with transaction() as conn:
        return Caller(client, keys.create(conn, "reports", "read"))
