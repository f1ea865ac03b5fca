"""What the console ships: htmx as vendored, no inline anything, both languages complete, and CSS that stays small."""

import hashlib
import re
import subprocess
import sys
from io import BytesIO
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from app.base.paths import shipped

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "app" / "translations" / "pt_BR" / "LC_MESSAGES"
HTMX_ATTRIBUTES = {"hx-get", "hx-target", "hx-push-url", "hx-trigger", "hx-sync"}


def _templates() -> list[Path]:
    found = [
        path
        for path in shipped("templates").rglob("*.html")
        if "api" not in path.relative_to(shipped("templates")).parts
    ]
    assert len(found) > 25
    return found


def test_htmx_is_the_file_that_was_vendored() -> None:
    table = (shipped("static") / "VENDORED.md").read_text()
    rows = re.findall(r"\| `([\w.-]+)` \|.*\| `([0-9a-f]{64})` \|", table)
    assert [name for name, _ in rows] == ["htmx-4.0.1.min.js"]
    for name, digest in rows:
        assert hashlib.sha256((shipped("static") / name).read_bytes()).hexdigest() == digest
    assert "htmx-4.0.1.min.js" in (shipped("templates") / "base.html").read_text()


def test_templates_use_nothing_that_the_policy_forbids() -> None:
    for path in _templates():
        text = path.read_text()
        assert not re.search(r"\sstyle=|\son[a-z]+=|<style|javascript:|\bjs:", text), path
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text)), path
        used = set(re.findall(r"\b(hx-[a-z-]+)(?=[:=])", text))
        assert used <= HTMX_ATTRIBUTES, (path, used)
        assert "|safe" not in text or path.name == "overview.html", path  # there: a translated phrase with a <time>


def test_our_css_and_script_stay_small() -> None:
    sheets = list(shipped("static").glob("*.css"))
    assert {sheet.name for sheet in sheets} == {"tokens.css", "base.css", "parts.css", "pages.css", "print.css"}
    assert sum(len(sheet.read_text().splitlines()) for sheet in sheets) < 1000
    assert len((shipped("static") / "console.js").read_text().splitlines()) < 40
    for sheet in sheets:
        if sheet.name not in {"tokens.css", "print.css"}:
            assert not re.search(r"oklch\([\d.]|#[0-9a-f]{3,6}\b", sheet.read_text().replace("#000 calc", "")), (
                sheet
            )  # roles only


def test_portuguese_is_complete_and_up_to_date(tmp_path: Path) -> None:
    """English is the source; every text of templates and code has its Portuguese, and none is left over."""
    template = tmp_path / "messages.pot"
    subprocess.run(
        [sys.executable, "-m", "babel.messages.frontend", "-q", "extract", "-F", "app/translations/babel.cfg", "-k", "_l",
         "--no-location", "-o", str(template), "."],
        cwd=ROOT, check=True,
    )  # fmt: skip
    with template.open("rb") as file:
        wanted = {message.id for message in read_po(file) if message.id}
    with (CATALOGUE / "messages.po").open("rb") as file:
        catalogue = read_po(file, locale="pt_BR")
    assert {message.id for message in catalogue if message.id} == wanted
    for message in catalogue:
        if not message.id:
            continue
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        assert all(strings), message.id
        assert not message.fuzzy, message.id
        assert not list(message.check(catalogue)), message.id
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    assert (CATALOGUE / "messages.mo").read_bytes() == compiled.getvalue()
