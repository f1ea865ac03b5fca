"""Runs Razão's revisions as the database's owner: one transaction each, with a limit on waiting for locks."""

from alembic import context
from flask import current_app
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from app.base.db import engine_url

engine = create_engine(engine_url(current_app.config["RAZAO_OWNER_URL"]), poolclass=NullPool)
with engine.connect() as connection:
    connection.exec_driver_sql("SET lock_timeout = '10s'")
    connection.commit()
    context.configure(connection=connection, transaction_per_migration=True)
    with context.begin_transaction():
        context.run_migrations()
