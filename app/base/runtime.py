"""What a process needs to run: settings, the two database URLs, the vault. The embedded server is started here."""

from dataclasses import dataclass, field

from app.base import embedded
from app.base.errors import ConfigurationError
from app.base.settings import Settings
from app.base.vault import Vault, master_key_from_file


@dataclass(frozen=True, slots=True)
class Runtime:
    """The running configuration. `owner_url` may do what the application's role may not (migrations, the doctor)."""

    settings: Settings
    app_url: str = field(repr=False)
    owner_url: str = field(repr=False)
    vault: Vault = field(repr=False)


def prepare(settings: Settings) -> Runtime:
    """Starts or joins the embedded server where no database is configured; raises ConfigurationError."""
    if settings.database_url:
        if not settings.master_key:
            raise ConfigurationError(
                "RAZAO_MASTER_KEY is not set; with your own database it is yours to keep: openssl rand -base64 32"
            )
        owner_url = settings.migration_database_url or settings.database_url
        return Runtime(settings, settings.database_url, owner_url, Vault(settings.master_key))
    try:
        cluster = embedded.start(settings.data_dir)
    except embedded.EmbeddedError as error:
        raise ConfigurationError(str(error)) from error
    master_key = settings.master_key or master_key_from_file(settings.data_dir / "master.key")
    return Runtime(settings, cluster.app_url, cluster.owner_url, Vault(master_key))
