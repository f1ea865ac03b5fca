"""For any WSGI server: `wsgi:app`, configured by the environment. `razao web` runs it under granian."""

from app.factory import from_environment

app = from_environment()
