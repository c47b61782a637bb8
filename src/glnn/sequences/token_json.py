"""Tokens as JSON and back, exactly: str, int, bool and None as they are; the others in an object that names them.

A float is written in hexadecimal, so that every bit of it comes back.
"""

from __future__ import annotations

from typing import Any

from glnn.sequences.errors import InputError

_MOST_BITS = 1 << 13
_DEEPEST = 64


def token_to_json(token: Any, _depth: int = 0) -> Any:
    """A token in terms of JSON: str, bytes, int, bool, float, None, and tuples of these."""
    kind = type(token)
    if token is None or kind in (str, bool):
        return token
    if kind is int:
        if token.bit_length() > _MOST_BITS:
            raise InputError(f"a token is an integer of {token.bit_length()} bits: at most {_MOST_BITS} can be written")
        return token
    if kind is float:
        return {"float": token.hex()}
    if kind is bytes:
        return {"bytes": token.hex()}
    if kind is tuple:
        if _depth == _DEEPEST:
            raise InputError(f"a token is a tuple nested more than {_DEEPEST} deep, which cannot be written")
        return {"tuple": [token_to_json(part, _depth + 1) for part in token]}
    raise InputError(
        f"the token {token!r} is of type {kind.__name__}, which cannot be written to a file: "
        "make tokens str, bytes, int, bool, float, None, or tuples of these"
    )


def token_from_json(value: Any) -> Any:
    """The inverse of `token_to_json`."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, dict) and len(value) == 1:
        name, content = next(iter(value.items()))
        try:
            if name == "float":
                return float.fromhex(content)
            if name == "bytes":
                return bytes.fromhex(content)
            if name == "tuple" and isinstance(content, list):
                return tuple(map(token_from_json, content))
        except (TypeError, ValueError):
            pass
    raise InputError(f"{str(value)[:80]!r} is not the written form of a token")
