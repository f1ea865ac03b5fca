"""Time is aware and in UTC; the business day and month are the merchant's own (DESIGN section 5)."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo


def now() -> datetime:
    """The instant it is now, aware, in UTC."""
    return datetime.now(UTC)


def month_of(moment: datetime, zone: ZoneInfo) -> date:
    """The competence month of an instant: the first day of its month in the merchant's zone.

    23:30 in São Paulo on 31 August is August, though UTC says September.
    """
    return moment.astimezone(zone).date().replace(day=1)
