"""`python -m app` is `razao`."""

from app.doors.cli import main

main()
