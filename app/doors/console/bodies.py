"""What a provider sent, shown for reading: JSON indented, personal data masked, secrets in headers never shown.

Owns what counts as personal: values under a personal name, and what looks like an e-mail, a CPF, a CNPJ or a phone.
Refuses to guess: a body that is no JSON is shown as text with the same patterns masked.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from app.providers.body import UnreadableError, text_of
from app.providers.contract import Call

MASK: Final = "•••"
_LONGEST_SHOWN: Final = 200_000
_DEEPEST: Final = 100

_PERSONAL_NAMES: Final = frozenset(
    """name nome firstname lastname fullname surname sobrenome payername customername holdername ownername
    cardholdername receivername nomepagador nomedevedor cpf cnpj cpfcnpj cpfoucnpj taxid document documento
    documentnumber email mail receiptemail phone phonenumber mobilephone cellphone celular telefone mobile whatsapp
    address endereco street line1 line2 logradouro addressnumber complement complemento postalcode cep province bairro
    birthdate nascimento ip ipaddress remoteip""".split()
)
_PATTERNS: Final = re.compile(
    r"""(?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
      | (?P<document>(?<!\d)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d) | (?<!\d)\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}(?!\d))
      | (?P<digits>(?<![\w.-])\d{11}(?![\w.-]) | (?<![\w.-])\d{14}(?![\w.-]))
      | (?P<phone>\+\d[\d\s().-]{8,18}\d | \(\d{2}\)\s?9?\d{4}-?\d{4})""",
    re.VERBOSE,
)
_SECRET_HEADER: Final = re.compile(
    r"authorization|cookie|token|secret|signature|api-?key|password|hmac|credential", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text in a shown body: `kind` is key, text, number, word, mask, or plain."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Body:
    """A body as a page shows it."""

    pieces: list[Piece]
    is_json: bool
    masked: bool  # whether anything was masked
    cut: bool  # longer than a page should be
    problem: str | None = None  # why it is no text


def shown(body: bytes, headers: Iterable[Iterable[str]], *, reveal: bool) -> Body:
    """The body for reading. `reveal`: personal data too; whoever asks has had that audited."""
    pairs = tuple((name, value) for name, value in headers)
    try:
        text = text_of(Call(body, pairs, (), datetime.now(UTC)))
    except UnreadableError as fault:
        return Body(
            [Piece("plain", body[:_LONGEST_SHOWN].hex(" "))] if reveal else [], False, not reveal, False, fault.code
        )
    try:
        parsed = json.loads(
            text, parse_float=_Literal, parse_int=_Literal, parse_constant=_Literal, object_pairs_hook=_Pairs
        )
        pieces = list(_json(parsed, 0, reveal=reveal, personal=False))
        is_json = True
    except (ValueError, RecursionError):
        pieces, is_json = [Piece("plain", text if reveal else mask(text))], False
    pieces, cut = _bounded(pieces)
    hidden = not reveal and (any(MASK in piece.text for piece in pieces))
    return Body(pieces, is_json, hidden, cut)


def raw(body: bytes) -> tuple[str, bool]:
    """The bytes as text for the raw view, whatever they are; and whether they were cut."""
    return body[:_LONGEST_SHOWN].decode("utf-8", "backslashreplace"), len(body) > _LONGEST_SHOWN


def json_pieces(value: Any, *, reveal: bool) -> list[Piece]:
    """Our own JSON (metadata, a message) shown by the same rules."""
    text = json.dumps(value, ensure_ascii=False)
    parsed = json.loads(text, parse_float=_Literal, parse_int=_Literal, object_pairs_hook=_Pairs)
    return list(_json(parsed, 0, reveal=reveal, personal=False))


def headers_shown(headers: Iterable[Iterable[str]], *, reveal: bool) -> list[tuple[str, str, bool]]:
    """(name, value, hidden). A secret is never shown."""
    found = []
    for name, value in headers:
        hidden = _SECRET_HEADER.search(name) is not None
        found.append((name, MASK if hidden else (value if reveal else mask(value)), hidden))
    return found


def mask(text: str) -> str:
    """The text with what looks like personal data masked: the last two characters of a number stay, to compare by."""
    return _PATTERNS.sub(_masked_match, text)


class _Literal(str):
    """A number exactly as it was written."""

    __slots__ = ()


class _Pairs(list[tuple[str, Any]]):
    """An object with its order and its repeated keys."""


def _json(value: Any, depth: int, *, reveal: bool, personal: bool) -> Iterator[Piece]:
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, _Pairs):
        yield from _members("{", "}", [(key, member) for key, member in value], depth, reveal, personal)
    elif isinstance(value, list):
        yield from _members("[", "]", [(None, member) for member in value], depth, reveal, personal)
    elif value is None or isinstance(value, bool):
        yield Piece("word", json.dumps(value))
    elif isinstance(value, _Literal):
        yield _scalar("number", str(value), str(value), reveal=reveal, personal=personal)
    else:
        written = json.dumps(value, ensure_ascii=False)
        yield _scalar("text", written, value, reveal=reveal, personal=personal)


def _members(
    opening: str, closing: str, members: list[tuple[str | None, Any]], depth: int, reveal: bool, personal: bool
) -> Iterator[Piece]:
    if not members:
        yield Piece("plain", opening + closing)
        return
    yield Piece("plain", opening + "\n")
    for index, (key, member) in enumerate(members):
        yield Piece("plain", "  " * (depth + 1))
        own = personal
        if key is not None:
            yield Piece("key", json.dumps(key, ensure_ascii=False))
            yield Piece("plain", ": ")
            own = personal or _is_personal(key)
        yield from _json(member, depth + 1, reveal=reveal, personal=own)
        yield Piece("plain", ",\n" if index < len(members) - 1 else "\n")
    yield Piece("plain", "  " * depth + closing)


def _scalar(kind: str, written: str, value: str, *, reveal: bool, personal: bool) -> Piece:
    if reveal:
        return Piece(kind, written)
    if personal and value:
        return Piece("mask", f'"{_keep_little(value)}"')
    masked = mask(value)
    return Piece(kind, written) if masked == value else Piece("mask", json.dumps(masked, ensure_ascii=False))


def _is_personal(key: str) -> bool:
    return re.sub(r"[^a-z0-9]", "", key.lower()) in _PERSONAL_NAMES


def _masked_match(match: re.Match[str]) -> str:
    text = match.group()
    if match.lastgroup == "digits" and not _is_document(text):
        return text
    return _keep_little(text)


def _keep_little(value: str) -> str:
    """The last two digits of a number, the first letter of anything else."""
    digits = re.sub(r"\D", "", value)
    if len(digits) >= 8:
        return MASK + digits[-2:]
    return value[:1] + MASK if len(value) > 3 else MASK


def _is_document(digits: str) -> bool:
    """Whether bare digits are a CPF or CNPJ by their check digits: amounts and ids are left alone."""
    if len(set(digits)) == 1:
        return False
    weights = (range(10, 1, -1), range(11, 1, -1)) if len(digits) == 11 else (_CNPJ[1:], _CNPJ)
    for weight in weights:
        numbers = list(weight)
        remainder = sum(int(digit) * by for digit, by in zip(digits, numbers, strict=False)) % 11
        if int(digits[len(numbers)]) != (0 if remainder < 2 else 11 - remainder):
            return False
    return True


_CNPJ: Final = (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)


def _bounded(pieces: list[Piece]) -> tuple[list[Piece], bool]:
    length = 0
    for index, piece in enumerate(pieces):
        length += len(piece.text)
        if length > _LONGEST_SHOWN:
            kept = piece.text[: len(piece.text) - (length - _LONGEST_SHOWN)]
            return [*pieces[:index], Piece(piece.kind, kept)], True
    return pieces, False
