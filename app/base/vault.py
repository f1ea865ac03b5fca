"""Secrets at rest: sealed with the master key, opened only in memory, never logged or shown again.

Fernet (AES-128-CBC with HMAC-SHA256, from `cryptography`) under a key derived from RAZAO_MASTER_KEY by HKDF, so
that any long text serves as a master key. Other keys (sessions) are derived from it under their own purpose.
"""

import base64
import os
import secrets
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.base.errors import ConfigurationError

SHORTEST_MASTER_KEY = 16


class Vault:
    """Seals and opens short texts with one master key."""

    def __init__(self, master_key: str) -> None:
        if len(master_key) < SHORTEST_MASTER_KEY:
            raise ConfigurationError(
                f"RAZAO_MASTER_KEY is shorter than {SHORTEST_MASTER_KEY} characters; "
                "make one with: openssl rand -base64 32"
            )
        self._master_key = master_key.encode()
        self._fernet = Fernet(base64.urlsafe_b64encode(self.derive("secrets at rest")))

    def derive(self, purpose: str) -> bytes:
        """32 bytes that only this master key gives, for one purpose."""
        return HKDF(algorithm=SHA256(), length=32, salt=b"razao", info=purpose.encode()).derive(self._master_key)

    def seal(self, text: str) -> bytes:
        """The text, encrypted and authenticated."""
        return self._fernet.encrypt(text.encode())

    def open(self, sealed: bytes) -> str:
        """The text again; raises ConfigurationError when another master key sealed it."""
        try:
            return self._fernet.decrypt(bytes(sealed)).decode()
        except InvalidToken:
            raise ConfigurationError(
                "RAZAO_MASTER_KEY does not open the stored secrets; start with the key that sealed them"
            ) from None


def master_key_from_file(path: Path) -> str:
    """The key kept in that file; made on first use, readable by its owner alone (0600)."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(32))
    except FileExistsError:
        pass
    return path.read_text().strip()
