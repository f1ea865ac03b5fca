"""What the environment says, read once: names and defaults as DESIGN section 7 and the README give them.

`NAME_FILE` reads a value from a file (for mounted secrets). A wrong value stops the start with one clear line.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.base.errors import ConfigurationError

LOCALES = ("en", "pt-BR")


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting. URLs and keys never show in a repr: it may end in a log."""

    database_url: str | None = field(repr=False)  # None: the embedded server in data_dir
    migration_database_url: str | None = field(repr=False)  # the owner's; None: the same
    data_dir: Path
    master_key: str | None = field(repr=False)
    timezone: ZoneInfo
    host: str
    port: int
    locale: str | None  # None: by the browser
    metrics_token: str | None = field(repr=False)
    admin_password: str | None = field(repr=False)
    trusted_proxies: int
    secure_cookies: bool


def read(environ: Mapping[str, str]) -> Settings:
    """Settings from the environment; raises ConfigurationError naming the variable and what it takes."""
    locale = _get(environ, "RAZAO_LOCALE")
    if locale is not None and locale not in LOCALES:
        raise ConfigurationError(f"RAZAO_LOCALE is {locale!r}; it takes one of: {', '.join(LOCALES)}")
    return Settings(
        database_url=_get(environ, "RAZAO_DATABASE_URL"),
        migration_database_url=_get(environ, "RAZAO_MIGRATION_DATABASE_URL"),
        data_dir=Path(_get(environ, "RAZAO_DATA_DIR") or "./.razao").expanduser().resolve(),
        master_key=_get(environ, "RAZAO_MASTER_KEY"),
        timezone=_zone(_get(environ, "RAZAO_TIMEZONE") or "America/Sao_Paulo"),
        host=_get(environ, "RAZAO_HOST") or "127.0.0.1",
        port=_number(environ, "RAZAO_PORT", 8000, most=65535),
        locale=locale,
        metrics_token=_get(environ, "RAZAO_METRICS_TOKEN"),
        admin_password=_get(environ, "RAZAO_ADMIN_PASSWORD"),
        trusted_proxies=_number(environ, "RAZAO_TRUSTED_PROXIES", 0, most=10),
        secure_cookies=_number(environ, "RAZAO_SECURE_COOKIES", 0, most=1) == 1,
    )


def _get(environ: Mapping[str, str], name: str) -> str | None:
    """The variable, or the text of the file that NAME_FILE names; empty counts as unset."""
    direct, path = environ.get(name), environ.get(f"{name}_FILE")
    if direct and path:
        raise ConfigurationError(f"{name} and {name}_FILE are both set; keep one")
    if path:
        try:
            return Path(path).read_text(encoding="utf-8").strip() or None
        except OSError as error:
            raise ConfigurationError(f"{name}_FILE: cannot read {path}: {error.strerror}") from None
    return direct or None


def _number(environ: Mapping[str, str], name: str, default: int, *, most: int) -> int:
    text = _get(environ, name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and int(text) <= most):
        raise ConfigurationError(f"{name} is {text!r}; it takes a whole number from 0 to {most}")
    return int(text)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigurationError(f"RAZAO_TIMEZONE is {name!r}; it takes a name like America/Sao_Paulo") from None
