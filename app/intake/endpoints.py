"""Endpoints: the addresses that providers call, their secrets (sealed at rest), and rotation with an overlap.

Changes are announced on ENDPOINTS_CHANNEL in their own transaction, so that every web process sees them at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from psycopg.types.json import Jsonb

from app.base.db import Connection
from app.base.errors import Refusal
from app.base.vault import Vault
from app.intake.events import SQL
from app.providers import registry
from app.providers.contract import Config, Secret

ENDPOINTS_CHANNEL: Final = "razao_endpoints"
_SLUG_HELP: Final = "a slug has small letters, digits, - and _, at most 63, and begins with a letter or digit"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One configured address, with its secrets opened in memory."""

    id: int
    slug: str
    provider: str
    unmatched: str
    disabled: bool
    config: Config


def load(conn: Connection, vault: Vault) -> dict[str, Endpoint]:
    """Every endpoint by slug."""
    secrets: dict[int, list[Secret]] = {}
    for endpoint_id, label, sealed in conn.execute(SQL["all_active_secrets"]).fetchall():
        secrets.setdefault(endpoint_id, []).append(Secret(label, vault.open(sealed)))
    return {
        slug: Endpoint(
            id=endpoint_id,
            slug=slug,
            provider=provider,
            unmatched=unmatched,
            disabled=disabled_at is not None,
            config=Config(
                secrets=tuple(secrets.get(endpoint_id, ())),
                url_token=vault.open(url_token) if url_token is not None else None,
                options=options,
            ),
        )
        for endpoint_id, slug, provider, url_token, unmatched, options, disabled_at in conn.execute(SQL["endpoints"])
    }


def add(
    conn: Connection,
    vault: Vault,
    *,
    slug: str,
    provider: str,
    secrets: Sequence[Secret],
    url_token: str | None,
    unmatched: str,
    options: Mapping[str, str],
) -> int:
    """Configures an endpoint; returns its id.

    Refusals (422): unknown_provider, slug_shape, secret_needed, url_token_needed, unknown_mode; endpoint_exists (409).
    """  # fmt: skip
    _check(slug, provider, secrets, url_token, options)
    row = conn.execute(
        SQL["add_endpoint"],
        {
            "slug": slug,
            "provider": provider,
            "url_token": vault.seal(url_token) if url_token else None,
            "unmatched": unmatched,
            "options": Jsonb(dict(options)),
        },
    ).fetchone()
    assert row is not None
    endpoint_id: int = row[0]
    for secret in secrets:
        _add_secret(conn, vault, endpoint_id, secret)
    _announce(conn)
    return endpoint_id


def rotate(conn: Connection, vault: Vault, *, slug: str, secrets: Sequence[Secret]) -> None:
    """Adds secrets beside the old ones: both are valid until `retire_old`. Refusal: endpoint_not_found (404)."""
    endpoint_id = _id_of(conn, slug)
    for secret in secrets:
        _add_secret(conn, vault, endpoint_id, secret)
    _announce(conn)


def retire_old(conn: Connection, *, slug: str) -> list[str]:
    """Ends all secrets but the newest of each label; returns the labels of those ended. Refusal: endpoint_not_found."""
    rows = conn.execute(SQL["retire_secrets"], {"endpoint_id": _id_of(conn, slug)}).fetchall()
    _announce(conn)
    return [row[0] for row in rows]


def disable(conn: Connection, *, slug: str) -> None:
    """Answers 404 from now on; what was received stays. Refusal: endpoint_not_found (404)."""
    conn.execute(SQL["disable_endpoint"], {"endpoint_id": _id_of(conn, slug)})
    _announce(conn)


def _check(
    slug: str, provider: str, secrets: Sequence[Secret], url_token: str | None, options: Mapping[str, str]
) -> None:
    if provider not in registry.PROVIDERS:
        known = ", ".join(sorted(registry.PROVIDERS))
        raise Refusal("unknown_provider", f"There is no provider {provider!r}; choose one of: {known}.", status=422)
    adapter = registry.PROVIDERS[provider]
    if adapter.NEEDS_SECRET and not secrets:
        raise Refusal(
            "secret_needed", f"{provider} proves its calls with a secret; give one with --secret.", status=422
        )
    if adapter.NEEDS_URL_TOKEN and not url_token:
        raise Refusal(
            "url_token_needed",
            f"{provider}'s signature key is public, so an endpoint needs a URL token too; give one with --url-token.",
            status=422,
        )
    if any(not secret.value for secret in secrets):
        raise Refusal("secret_needed", "A secret is empty.", status=422)
    if not _is_slug(slug):
        raise Refusal("slug_shape", f"{slug!r} is no slug: {_SLUG_HELP}.", status=422)
    if options.get("mode", "live") not in {"live", "test"}:
        raise Refusal("unknown_mode", "The option mode takes live or test.", status=422)


def _is_slug(text: str) -> bool:
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789-_")
    return 0 < len(text) <= 63 and set(text) <= allowed and text[0] not in "-_"


def _add_secret(conn: Connection, vault: Vault, endpoint_id: int, secret: Secret) -> None:
    conn.execute(
        SQL["add_secret"], {"endpoint_id": endpoint_id, "label": secret.label, "sealed": vault.seal(secret.value)}
    )


def _id_of(conn: Connection, slug: str) -> int:
    row = conn.execute(SQL["endpoint_id"], {"slug": slug}).fetchone()
    if row is None:
        raise Refusal("endpoint_not_found", f"There is no endpoint {slug!r}; see razao endpoint list.", status=404)
    endpoint_id: int = row[0]
    return endpoint_id


def _announce(conn: Connection) -> None:
    conn.execute(SQL["announce_endpoints"])
