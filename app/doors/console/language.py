"""The reader's language, and how amounts, times and distances are written in it.

Settings force a language; else a choice kept in a cookie; else the browser's. Times are shown in the merchant's zone,
with the exact instant in UTC on the element. Amounts come in minor units and are never rounded.
"""

import re
from collections.abc import Callable
from copy import copy
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from babel import Locale, dates, numbers
from flask import Flask, Response, request
from flask_babel import Babel, get_locale, gettext
from markupsafe import Markup

from app.base.clock import now
from app.base.money import decimals
from app.base.settings import Settings

COOKIE: Final = "razao_lang"
LANGUAGES: Final = {"pt-BR": "Português", "en": "English"}
MINUS: Final = "\u2212"
_YEAR_SECONDS: Final = 365 * 24 * 3600
_TRANSLATIONS: Final = Path(__file__).resolve().parents[2] / "translations"


def init(app: Flask, settings: Settings) -> None:
    """Chooses the language of each request, and teaches the templates to write."""
    app.config["BABEL_TRANSLATION_DIRECTORIES"] = str(_TRANSLATIONS)
    Babel(app, default_locale="en", locale_selector=lambda: _chosen(settings.locale).replace("-", "_"))
    filters: dict[str, Callable[..., object]] = {
        "money": money,
        "when": _in_zone(settings.timezone, when),
        "day_time": _in_zone(settings.timezone, day_time),
        "ago": ago,
        "month": month,
        "number": number,
        "distance": distance,
    }
    app.jinja_env.filters.update(filters)


def code() -> str:
    """The language of this request: `pt-BR` or `en`."""
    return "pt-BR" if portuguese() else "en"


def portuguese() -> bool:
    """Whether this request is answered in Portuguese."""
    return _locale().language == "pt"


def remember(response: Response) -> Response:
    """Keeps a choice made with ?lang= for a year."""
    asked = request.args.get("lang")
    if asked in LANGUAGES:
        response.set_cookie(COOKIE, asked, max_age=_YEAR_SECONDS, samesite="Lax", httponly=True)
    return response


def switch() -> list[tuple[str, str, str, bool]]:
    """The languages to choose from on this page: (code, name, address, chosen)."""
    kept = [(key, value) for key, value in request.args.items(multi=True) if key != "lang"]
    return [
        (name, word, f"{request.path}?{urlencode([*kept, ('lang', name)])}", name == code())
        for name, word in LANGUAGES.items()
    ]


def money(amount: int | None, currency: str | None) -> str:
    """`R$ 49,90` or `R$49.90`; `¥500`; a dash where there is no amount."""
    if amount is None or currency is None:
        return "—"
    places = decimals(currency)
    pattern = copy(_locale().currency_formats["standard"])
    pattern.frac_prec = (places, places)
    value = Decimal(amount).scaleb(-places)
    written: str = pattern.apply(value, _locale(), currency=currency, currency_digits=False)
    # Babel leaves out what CLDR asks for: a space between a code and the digits after it.
    return re.sub(r"(?<=[A-Za-z])(?=\d)", "\xa0", written).replace("-", MINUS)


def plain_amount(amount: int, currency: str) -> str:
    """`49,90` or `49.90`, as a person types it into a form."""
    places = decimals(currency)
    text = f"{Decimal(amount).scaleb(-places):.{places}f}"
    return text.replace(".", ",") if portuguese() else text


def when(moment: datetime | None, zone: ZoneInfo) -> Markup:
    """`1 Dec 2026, 03:57:35` with the instant in UTC on the element."""
    if moment is None:
        return Markup("—")
    written = dates.format_datetime(moment.astimezone(zone), "d MMM y, HH:mm:ss", locale=_locale())
    return _time(moment, written)


def day_time(moment: datetime | None, zone: ZoneInfo) -> Markup:
    """`03:57:35` for today, else `28 Nov, 03:57`: for lists."""
    if moment is None:
        return Markup("—")
    local, today = moment.astimezone(zone), now().astimezone(zone)
    if local.date() == today.date():
        pattern = "HH:mm:ss"
    else:
        pattern = "d MMM, HH:mm" if local.year == today.year else "d MMM y, HH:mm"
    return _time(moment, dates.format_datetime(local, pattern, locale=_locale()))


def ago(moment: datetime | None) -> Markup:
    """`2 min ago`, with the instant on the element."""
    if moment is None:
        return Markup("—")
    passed = max(now() - moment, timedelta(seconds=1))
    written = dates.format_timedelta(-passed, add_direction=True, format="short", threshold=1.2, locale=_locale())
    return _time(moment, written.replace(". ", " ").removesuffix("."))


def distance(between: timedelta | None) -> str:
    """How far apart two moments are: `412 ms`, `3.2 s`, `5 min`, `3 h 12 min`, `4 d`."""
    if between is None:
        return "—"
    seconds = abs(between.total_seconds())
    if seconds < 1:
        return f"{number(round(seconds * 1000))} ms"
    if seconds < 60:
        return f"{number(round(seconds, 1))} s"
    minutes, hours = int(seconds // 60), int(seconds // 3600)
    if hours < 1:
        return f"{minutes} min"
    if hours < 24:
        return f"{hours} h {minutes % 60} min"
    return f"{hours // 24} d {hours % 24} h"


def phrase(text: str, **values: object) -> Markup:
    """A translated sentence as markup: the translations are ours, every value is escaped unless it is markup itself."""
    return Markup(text) % values  # noqa: S704


def month(period: date) -> str:
    """`December 2026`, `dezembro de 2026`."""
    name = dates.format_date(period, "MMMM", locale=_locale())
    return str(gettext("%(month)s %(year)s", month=name, year=period.year))


def number(value: float | Decimal) -> str:
    """A plain number with the language's separators."""
    return numbers.format_decimal(value, locale=_locale()).replace("-", MINUS)


def _time(moment: datetime, written: str) -> Markup:
    exact = moment.astimezone(UTC)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        exact.isoformat(timespec="milliseconds").replace("+00:00", "Z"), f"{exact:%Y-%m-%d %H:%M:%S.%f} UTC", written
    )


def _in_zone(
    zone: ZoneInfo, write: Callable[[datetime | None, ZoneInfo], Markup]
) -> Callable[[datetime | None], Markup]:
    return lambda moment: write(moment, zone)


def _locale() -> Locale:
    locale = get_locale()
    assert isinstance(locale, Locale)
    return locale


def _chosen(forced: str | None) -> str:
    if forced:
        return forced
    for asked in (request.args.get("lang"), request.cookies.get(COOKIE)):
        if asked in LANGUAGES:
            return asked
    for wanted in request.accept_languages.values():
        if wanted.lower().startswith("pt"):
            return "pt-BR"
        if wanted.lower().startswith("en"):
            return "en"
    return "en"
