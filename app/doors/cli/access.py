"""`razao api-key` and `razao user`."""

import click

from app.access import keys, people
from app.access.audit import record
from app.base.db import transaction
from app.doors.cli import context


@click.group("api-key")
def api_key() -> None:
    """Keys for the shop's systems."""


@api_key.command("create")
@click.argument("name")
@click.option("--scope", type=click.Choice(keys.SCOPES), default="write", show_default=True)
def create(name: str, scope: str) -> None:
    """Make a key and print it alone; it is never shown again."""
    with context.running(), transaction() as conn:
        key = keys.create(conn, name, scope)
        record(conn, context.act(), "api_key.create", f"api_key:{name}", {"scope": scope})
    click.echo(key)


@api_key.command("revoke")
@click.argument("name")
def revoke(name: str) -> None:
    """End a key at once."""
    with context.running(), transaction() as conn:
        keys.revoke(conn, name)
        record(conn, context.act(), "api_key.revoke", f"api_key:{name}")
    click.echo(f"API key {name} is revoked")


@click.group()
def user() -> None:
    """People who may sign in to the console."""


@user.command("add")
@click.argument("login")
@click.option("--role", required=True, type=click.Choice([role.name.lower() for role in people.Role]))
def add(login: str, role: str) -> None:
    """Add an operator. The password is read from standard input, or made and printed once."""
    given = context.first_line_of_stdin()
    password = given or people.new_password()
    with context.running(), transaction() as conn:
        people.add(conn, login, password, people.role_named(role))
        record(conn, context.act(), "operator.add", f"operator:{login}", {"role": role})
    click.echo(f"operator {login} added as {role}" + ("" if given else f", password: {password}"))
