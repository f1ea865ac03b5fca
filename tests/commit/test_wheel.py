"""Installed as a wheel it works as from a checkout: templates, static files, translations, SQL and migrations travel."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

# Runs with the wheel alone on its path: makes a database, migrates it, signs nobody in, finds a style sheet.
VISIT = """
import pathlib, sys
import app
from app.base import embedded, migrating, settings
from app.base.runtime import prepare
from app.factory import create_app
assert pathlib.Path(app.__file__).is_relative_to(sys.argv[1]), app.__file__
runtime = prepare(settings.read({"RAZAO_DATA_DIR": sys.argv[2]}))
made = create_app(runtime)
with made.app_context():
    migrating.upgrade(runtime.owner_url, runtime.app_url)
client = made.test_client()
page = client.get("/", follow_redirects=True, headers={"Accept-Language": "pt-BR"})
assert page.status_code == 200 and "Senha" in page.text, page.text[:500]
assert client.get("/static/tokens.css").status_code == 200
assert client.get("/api/v1/openapi.json").status_code == 200
print("visited")
"""


def test_the_wheel_works_on_its_own() -> None:
    with tempfile.TemporaryDirectory(prefix="razao-wheel-") as room:
        Path(room).chmod(0o711)
        build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", room, str(ROOT)]
        subprocess.run(build, check=True, capture_output=True, cwd=room)
        [wheel] = Path(room).glob("*.whl")
        target = f"{room}/site"
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, str(wheel)]
        subprocess.run(install, check=True, capture_output=True)
        done = subprocess.run(
            [sys.executable, "-c", VISIT, target, f"{room}/data"],
            env={"PYTHONPATH": target, "PATH": "/usr/bin:/bin"}, cwd=room, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == "visited"
