"""Damage to files: blind, or by a forger who signs what he changes."""

from __future__ import annotations

import contextlib
import copy
import gzip
import io
import json
import random
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from glnn.codec.container import CHECKSUM, MAGIC, checksum, read_header
from glnn.storage.model_file import signed

STRANGE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 7, 2**31, 2**63, 2**70, 10**15, -(2**70), 0.5, -0.0, 1e308, float("nan"), float("inf"),
    "", "a", "nan", "inf", "0x1p+1", "../../outside", "/dev/zero", "\0", "\ud800", "x" * 5000, [], [[]], [1, 2], ["a"],
    {}, {"float": "nan"}, {"float": "x"}, {"tuple": []}, {"bytes": "zz"}, {"numbers": ["nan"]}, {"budget": {}},
    {"budget": {"steps": -1}}, {"alphabet": {}}, {"__class__": "os.system"},
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of file: one that is whole, how it is read and used, and how a forger would change it."""

    whole: bytes
    read: Callable[[bytes, Path], Any]
    forge: Callable[[bytes, random.Random], bytes] | None = None


def damaged(kind: Kind, generator: random.Random) -> tuple[bytes, bool]:
    """One bad file, and whether it was forged: whatever checksum it has is then right."""
    if kind.forge is not None and generator.random() < 0.7:
        return kind.forge(kind.whole, generator), True
    return bitten(kind.whole, generator), False


def bitten(content: bytes, generator: random.Random) -> bytes:
    """Bytes changed, put in, taken out, cut off, said twice, or replaced by numbers that claim too much."""
    changed = bytearray(content)
    for _ in range(generator.choice((1, 1, 2, 5, 20))):
        place = generator.randrange(len(changed) + 1)
        how = generator.randrange(7)
        if how == 0 and place < len(changed):
            changed[place] ^= 1 << generator.randrange(8)
        elif how == 1:
            changed[place:place] = generator.randbytes(generator.randint(1, 9))
        elif how == 2:
            del changed[place : place + generator.randint(1, 40)]
        elif how == 3:
            del changed[place:]
        elif how == 4:
            changed[place:place] = changed[place : place + generator.randint(1, 200)]
        elif how == 5:
            large = generator.choice((2**63 - 1, 2**50, 2**40, 2**32 - 1, 10**8, 0))
            changed[place : place + 8] = struct.pack("<Q", large)
        else:
            changed[place : place + 1] = generator.choice((b"\xff" * 9, b"\x00", b"9" * 30, b"[" * 3000, b'"', b"\x80"))
    return bytes(changed)


def twisted(value: Any, generator: random.Random) -> Any:
    """A JSON document with one thing in it changed, taken out or put in."""
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    value = copy.deepcopy(value)
    walk(value)
    if not places:
        return generator.choice(STRANGE)
    node, key = generator.choice(places)
    how = generator.randrange(5)
    if how == 0:
        del node[key]
    elif how == 1 and isinstance(node, list):
        node.insert(key, copy.deepcopy(node[key]))
    elif how == 2 and isinstance(node[key], int | float) and not isinstance(node[key], bool):
        node[key] += generator.choice((1, -1, 0.5, 10**6, -(10**9)))
    else:
        node[key] = generator.choice(STRANGE)
    return value


def forged_model(content: bytes, generator: random.Random) -> bytes:
    """Header and arrays changed, with a checksum that says they are right."""
    arrays = {name: array.copy() for name, array in load_tensors(content).items()}
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["glnn"])
    header.pop("sha256")
    for _ in range(generator.choice((1, 1, 2, 4))):
        if generator.random() < 0.6:
            header = twisted(header, generator)
        else:
            name = generator.choice(sorted(arrays))
            inside = name.startswith("network") and arrays[name].dtype == np.uint8 and generator.random() < 0.8
            arrays[name] = _forged_inside(arrays[name], generator) if inside else other_array(arrays[name], generator)
            if generator.random() < 0.1:
                del arrays[name]
        if not isinstance(header, dict) or not arrays:
            break
    try:
        text = signed(arrays, header)
    except (TypeError, ValueError, AttributeError):
        # What cannot be signed as the library does, a forger writes by hand.
        text = json.dumps(header)
    return bytes(save_tensors(arrays, metadata={"glnn": text.encode("utf-8", "replace").decode()}))


def _forged_inside(array: np.ndarray, generator: random.Random) -> np.ndarray:
    """A file inside a file."""
    try:
        return np.frombuffer(forged_model(array.tobytes(), generator), np.uint8)
    except Exception:
        # It was damaged before.
        return np.frombuffer(bitten(array.tobytes(), generator), np.uint8)


def other_array(array: np.ndarray, generator: random.Random) -> np.ndarray:
    how = generator.randrange(7)
    if how == 0:
        return array.ravel()
    if how == 1:
        return np.concatenate([array, array])
    if how == 2:
        return array[: len(array) // 2].copy()
    if how == 3:
        return array.astype(generator.choice((np.float32, np.int8, np.int64, np.float64, np.uint8, bool)))
    if how == 4:
        return np.zeros(generator.choice(((0,), (1,), (3, 0), (2, 2, 2), (1, 10_000))))
    if array.size:
        values = (np.nan, np.inf, 1e300, -1, 0, 2**31 - 1, 10**6) if array.dtype.kind == "f" else (-1, 0, 10**6, 2**31)
        with np.errstate(all="ignore"), contextlib.suppress(OverflowError):
            array.reshape(-1)[generator.randrange(array.size)] = generator.choice(values)
    return array


def sealed(content: bytes, generator: random.Random) -> bytes:
    """A stream changed behind its magic, with the checksum of what it became."""
    body = content[: len(MAGIC)] + bitten(content[len(MAGIC) : -CHECKSUM], generator)
    digest = checksum()
    digest.update(body)
    return body + digest.digest()


def sealed_layout(content: bytes, generator: random.Random) -> bytes:
    """A stream whose layout, which names the symbols, says something else; lengths and checksums are right."""
    header = read_header(io.BytesIO(content))
    begin = len(content) - CHECKSUM - header.layout
    found = zlib.decompress(content[begin:-CHECKSUM], -15)
    classes, said = found[:256], json.loads(found[256:])
    if generator.random() < 0.3:
        return sealed(content, generator)
    for _ in range(generator.choice((1, 1, 3))):
        said = twisted(said, generator) if isinstance(said, dict | list) else said
    if generator.random() < 0.2:
        classes = bitten(classes, generator)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    layout = packer.compress(classes + json.dumps(said).encode()) + packer.flush()
    code = content[begin - header.code : begin]
    body = replace(header, layout=len(layout)).packed() + code + layout
    digest = checksum()
    digest.update(body)
    return body + digest.digest()


def sealed_log(content: bytes, generator: random.Random) -> bytes:
    place = content.index(MAGIC)
    return content[:place] + sealed(content[place:], generator)


def twisted_json(content: bytes, generator: random.Random) -> bytes:
    found = json.loads(content)
    for _ in range(generator.choice((1, 1, 3))):
        if isinstance(found, dict | list):
            found = twisted(found, generator)
    return json.dumps(found).encode()


def twisted_lines(content: bytes, generator: random.Random) -> bytes:
    """JSON lines, some of which say something else."""
    lines = content.splitlines()
    for _ in range(generator.choice((1, 1, 3))):
        place = generator.randrange(len(lines))
        found = json.loads(lines[place])
        found = twisted(found, generator) if isinstance(found, dict | list) else generator.choice(STRANGE)
        lines[place] = json.dumps(found).encode()
    return b"\n".join(lines)


FRAGMENTS = (
    b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n\n", b"\0", b'"', b'""', b"'", b",", b";", b"\t", b"|", b">", b">\n", b"%",
    b"=",
    b"X:1\n", b"K:C\n", b"T:\n", b"[", b"]", b"{", b"{" * 2000, b"[a:" * 2000, b"[c" * 2000, b'"' * 2001, b"((((3",
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", "\u2028".encode(), "\ufdd0".encode(), b"9" * 400, b"-1", b"nan", b"inf",
    b"1e999",
    b"2020-13-45", b"0001-01-01T00:00:00+23:59", b"9999-12-31T23:59:59-23:59", b"x" * 140_000, b"case", b"step",
    b"a,b,c,d",
    b"[" * 20_000, b'{"a":' * 5000, b'"\\ud800"', b"1" + b"0" * 5000, b"true", b"null", b"{}", b"[]", b"\x1b[2J",
    b"../../x",
)  # fmt: skip


def patched(content: bytes, generator: random.Random) -> bytes:
    """A text with pieces of other files in it, its lines moved, said again or taken out, its fields exchanged."""
    lines = content.split(b"\n")
    for _ in range(generator.choice((1, 1, 2, 6))):
        place, how = generator.randrange(len(lines)), generator.randrange(6)
        if how == 0:
            lines[place] = generator.choice(FRAGMENTS)
        elif how == 1:
            cut = generator.randrange(len(lines[place]) + 1)
            lines[place] = lines[place][:cut] + generator.choice(FRAGMENTS) + lines[place][cut:]
        elif how == 2:
            lines[place : place + 1] = [lines[place]] * generator.choice((0, 2, 50))
        elif how == 3:
            generator.shuffle(lines)
        elif how == 4:
            between = generator.choice((b",", b";", b"\t", b" ", b'"'))
            fields = lines[place].split(between)
            generator.shuffle(fields)
            lines[place] = between.join(fields)
        else:
            lines[place] = lines[place].replace(lines[place][:1], generator.choice(FRAGMENTS))
        lines = lines or [b""]
    return b"\n".join(lines)


BOMB = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 12))
ATTACKS = (
    b"<!DOCTYPE log>", b'<!DOCTYPE log SYSTEM "file:///etc/passwd">',
    b'<!DOCTYPE log PUBLIC "a" "http://127.0.0.1:9/x">',
    f'<!DOCTYPE log [<!ENTITY e0 "ha">{BOMB}]>'.encode(), b'<!DOCTYPE log [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    b'<!DOCTYPE log [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>',
    b'<!DOCTYPE log [<!ATTLIST string value CDATA "x">]>',
    b"&x;", b"&e11;", b"&#0;", b"&#x110000;", b"&lt;", b"<![CDATA[" + b"x" * 70_000 + b"]]>",
    b"<!--" + b"-" * 9 + b"-->",
    b"<a>" * 150, b"<a>" * 20_000, b"</log>", b"</trace>", b"<trace>", b"<event>", b"</event>", b"<event/>",
    b"<trace/>",
    b'<string key="concept:name" value="' + b"y" * 70_000 + b'"/>', b'<string key="concept:name" value=""/>',
    b"<?xml version='1.0' encoding='utf-16'?>", b"<?xml version='1.0' encoding='utf-7'?>", b"<?php echo 1 ?>",
    b'<x xmlns="' + b"z" * 5000 + b'"/>', b"<" + b"n" * 70_000 + b"/>", b'<a b="1" b="2"/>', b"<a:b/>", b"\0", b"]]>",
    b"<log xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='file:///etc/passwd' parse='text'/></log>",
    b"<a " + b" ".join(b'k%d="v"' % k for k in range(3000)) + b"/>",
)  # fmt: skip


def attacked(content: bytes, generator: random.Random) -> bytes:
    """XML with something between two tags, or instead of one, that parsers have fallen for."""
    for _ in range(generator.choice((1, 1, 2, 5))):
        tags = [place for place, byte in enumerate(content) if byte == ord("<")] or [0]
        place = generator.choice((0, generator.choice(tags), generator.choice(tags), generator.choice(tags)))
        end = content.find(b">", place) + 1 if generator.random() < 0.4 else place
        content = content[:place] + generator.choice(ATTACKS) + content[max(end, place) :]
    return content


@cache
def _bomb(byte: int) -> bytes:
    return gzip.compress(bytes([byte]) * 100_000_000, 9)


def packed_again(forge: Callable[[bytes, random.Random], bytes]) -> Callable[[bytes, random.Random], bytes]:
    """The forgery of what is inside a gzip file, packed with a right checksum; now and then very much of nothing."""

    def change(content: bytes, generator: random.Random) -> bytes:
        inside = gzip.decompress(content)
        if generator.random() < 0.01:
            return gzip.compress(inside, 1) + _bomb(generator.choice((0, 32, 60)))
        return gzip.compress(forge(inside, generator), 1)

    return change
