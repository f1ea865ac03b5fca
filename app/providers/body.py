"""From the raw bytes of a call to one JSON object, strictly; and the comparison of secrets.

Owns: inflating, decoding and parsing a body for READING. Verification never comes here: a signature is over
the bytes as they arrived (providers.md section 0, rule 1). Refuses, each with a stable code: what is not
JSON, what is no object, repeated keys (two parsers would disagree about which one counts), NaN and Infinity,
nesting deeper than any provider's, bodies that inflate past a bound.
"""

import base64
import codecs
import hashlib
import hmac
import json
import re
import zlib
from decimal import Decimal, InvalidOperation
from typing import Final, NoReturn

from app.providers.contract import Call, Fact, Reading, Rejected

Json = dict[str, object]

MAX_INFLATED: Final = 4 * 1024 * 1024
MAX_DEPTH: Final = 100
# No amount and no time is longer, and int() refuses more than 4300 digits with a ValueError.
_MAX_DIGITS: Final = 60
# Valid JSON that is no number anyone books: kept apart from NaN in the text, which is no JSON at all.
_NO_AMOUNT: Final = Decimal("NaN")

_CHARSET = re.compile(r""";\s*charset\s*=\s*["']?([A-Za-z0-9._:-]+)""", re.IGNORECASE)
# Python knows codecs that execute escapes or inflate; only plain text encodings are let in.
_TEXT_CODECS: Final = frozenset({"utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252", "utf-16", "utf-32"})
# A string swallows its brackets; an unterminated one swallows the rest, so the scan stays linear.
_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[{\]}]', re.DOTALL)


class UnreadableError(Exception):
    """The bytes are authentic but cannot be understood. `code` is what `Reading.unreadable` says."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def same_text(expected: str, given: str) -> bool:
    """Whether both are the same, in a time that does not depend on where they differ.

    WSGI hands header bytes over as Latin-1 text, so a secret with other letters is recognised by its UTF-8
    bytes as well. An empty expected value never matches: no empty header satisfies an unset secret.
    """
    wanted = expected.encode("utf-8", "surrogatepass")
    as_text = given.encode("utf-8", "surrogatepass")
    try:
        as_wire = given.encode("latin-1")
    except UnicodeEncodeError:
        as_wire = as_text
    matches = hmac.compare_digest(wanted, as_text) | hmac.compare_digest(wanted, as_wire)
    return matches and bool(expected)


def hmac_sha256(key: str, *parts: bytes) -> bytes:
    """HMAC-SHA256 under the UTF-8 bytes of `key`."""
    mac = hmac.new(key.encode("utf-8", "surrogatepass"), digestmod=hashlib.sha256)
    for part in parts:
        mac.update(part)
    return mac.digest()


def hmac_sha256_base64(key: str, body: bytes) -> str:
    """The same as text, in standard base64 with padding."""
    return base64.b64encode(hmac_sha256(key, body)).decode("ascii")


def only_header(call: Call, name: str, what: str) -> str:
    """The header, sent exactly once and not empty; else Rejected `<what>_missing` or `<what>_duplicated`."""
    sent = sum(1 for key, _ in call.headers if key == name)
    if sent > 1:
        raise Rejected(f"{what}_duplicated")
    value = (call.header(name) or "").strip(" \t")
    if not value:
        raise Rejected(f"{what}_missing")
    return value


def body_key(call: Call) -> str:
    """What identifies an event that does not identify itself: two calls with the same bytes are the same."""
    return "sha256:" + hashlib.sha256(call.body).hexdigest()


def unreadable_call(call: Call, code: str) -> tuple[Reading, ...]:
    """The one reading of a body nothing could be read from."""
    return (Reading(key=body_key(call), type="", fact=Fact.INFORMATIONAL, unreadable=code),)


def text_of(call: Call) -> str:
    """The body as text, inflated and decoded as its headers say. Raises UnreadableError."""
    return _decode(_inflate(call.body, call.header("content-encoding")), call.header("content-type"))


def parse_object(call: Call) -> Json:
    """The body as one JSON object, numbers with a point as Decimal. Raises UnreadableError."""
    text = text_of(call)
    if _deeper_than(text, MAX_DEPTH):
        raise UnreadableError("body_too_deep")
    try:
        parsed = json.loads(
            text,
            parse_float=_number,
            parse_int=_integer,
            parse_constant=_no_constant,
            object_pairs_hook=_unique_keys,
        )
    except RecursionError:
        raise UnreadableError("body_too_deep") from None
    except ValueError:
        raise UnreadableError("body_not_json") from None
    if not isinstance(parsed, dict):
        raise UnreadableError("body_not_an_object")
    return parsed


def _inflate(body: bytes, encoding: str | None) -> bytes:
    coding = (encoding or "identity").strip().lower()
    if coding in {"identity", ""}:
        return body
    if coding in {"gzip", "x-gzip"}:
        return _inflated(body, zlib.MAX_WBITS | 16)
    if coding == "deflate":
        # The name means zlib (RFC 9110, 8.4.1.2), yet some senders leave the zlib wrapper out.
        wrapped = len(body) >= 2 and body[0] & 0x0F == 8 and (body[0] << 8 | body[1]) % 31 == 0
        return _inflated(body, zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
    raise UnreadableError("content_encoding_unknown")


def _inflated(body: bytes, wbits: int) -> bytes:
    engine = zlib.decompressobj(wbits)
    try:
        plain = engine.decompress(body, MAX_INFLATED + 1)
    except zlib.error:
        raise UnreadableError("body_not_inflatable") from None
    if len(plain) > MAX_INFLATED:
        raise UnreadableError("body_too_large_inflated")
    if not engine.eof or engine.unused_data:
        raise UnreadableError("body_not_inflatable")
    return plain


def _decode(body: bytes, content_type: str | None) -> str:
    declared = _CHARSET.search(content_type or "")
    try:
        codec = codecs.lookup(declared[1] if declared else "utf-8").name
    except LookupError:
        raise UnreadableError("charset_unknown") from None
    if codec.removesuffix("-le").removesuffix("-be") not in _TEXT_CODECS:
        raise UnreadableError("charset_unknown")
    try:
        return body.decode(codec).removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise UnreadableError("body_not_text") from None


def _deeper_than(text: str, limit: int) -> bool:
    # Counted here and not left to RecursionError, which depends on how deep the caller already is.
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for token in _TOKENS.finditer(text):
        first = token[0][0]
        if first in "[{":
            depth += 1
            if depth > limit:
                return True
        elif first in "]}":
            depth -= 1
    return False


def _number(digits: str) -> Decimal:
    try:
        return Decimal(digits) if len(digits) <= _MAX_DIGITS else _NO_AMOUNT
    except InvalidOperation:  # an exponent beyond what Decimal holds
        return _NO_AMOUNT


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _MAX_DIGITS else _NO_AMOUNT


def _no_constant(name: str) -> NoReturn:
    raise UnreadableError("body_not_json") from ValueError(name)


def _unique_keys(pairs: list[tuple[str, object]]) -> Json:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise UnreadableError("duplicate_json_keys")
    return result
