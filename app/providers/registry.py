"""Which providers there are, and the one way a call is authenticated. A new provider is one line here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from app.providers import abacatepay, asaas, stripe
from app.providers.body import same_text
from app.providers.contract import Call, Config, Provider, Rejected

URL_TOKEN_PARAMETER: Final = "token"  # noqa: S105 - the parameter's name, no secret

PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        asaas.NAME: asaas,
        stripe.NAME: stripe,
        abacatepay.NAME: abacatepay,
    }
)


class UnknownProviderError(LookupError):
    """No provider has that name. The message names those that exist."""

    def __init__(self, name: str) -> None:
        super().__init__(f"unknown provider {name!r}; known: {', '.join(sorted(PROVIDERS))}")
        self.name = name


def get(name: str) -> Provider:
    """The provider of that name; raises UnknownProviderError."""
    try:
        return PROVIDERS[name]
    except KeyError:
        raise UnknownProviderError(name) from None


def authenticate(provider: Provider, call: Call, config: Config) -> str:
    """The label of the secret that proved the call, once the URL token (if any) is right as well."""
    label = provider.verify(call, config)
    if config.url_token is None:
        if provider.NEEDS_URL_TOKEN:
            raise Rejected("endpoint_without_url_token")
        return label
    _check_url_token(provider, call, config.url_token)
    return label


def _check_url_token(provider: Provider, call: Call, expected: str) -> None:
    """A provider may send it in query and header: each name once at most, and every value must be right."""
    sources = [call.query_values(name) for name in (URL_TOKEN_PARAMETER, *provider.URL_TOKEN_QUERY)]
    sources += [[value for key, value in call.headers if key == name] for name in provider.URL_TOKEN_HEADERS]
    if any(len(values) > 1 for values in sources):
        raise Rejected("url_token_duplicated")
    given = [value for values in sources for value in values]
    if not any(given):
        raise Rejected("url_token_missing")
    verdicts = [same_text(expected, value) for value in given]  # all of them, before any counts
    if not all(verdicts):
        raise Rejected("url_token_wrong")
