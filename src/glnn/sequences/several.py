"""Several sequences, with their names and what they were read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from glnn.sequences.errors import InputError, one_line

if TYPE_CHECKING:
    from glnn.sequences.formats.source import ReadOptions

# Counting the kinds of more symbols than this would make showing them slow.
_MOST_COUNTED = 5_000_000


class Sequences:
    """Several sequences, each of any kind: `Sequences(["abba", "ab"])` is two texts, not two tokens.

    `names`, when given, says what each sequence is (the case of an event log). A part of them, as `sequences[:10]` or
    with an array of places, is a `Sequences` again. What `glnn.read` gives also knows `source` (the file), `title`
    (what the file was taken for), `note` (a remark) and `options` (how to read another one like it).
    """

    def __init__(
        self,
        items: Iterable[Any],
        names: Iterable[str] | None = None,
        *,
        source: str = "",
        title: str = "",
        note: str = "",
        options: ReadOptions | None = None,
    ) -> None:
        if isinstance(items, str | bytes):
            raise InputError(
                f"Sequences was given one {type(items).__name__}: give a list of sequences, Sequences([...])"
            )
        try:
            self.items: tuple[Any, ...] = tuple(items)
            self.names: tuple[str, ...] | None = None if names is None else tuple(names)
        except TypeError:
            named = "" if names is None else f" with names {one_line(names)}"
            raise InputError(f"Sequences was given {one_line(items)}{named}: give lists") from None
        if self.names is not None and len(self.names) != len(self.items):
            raise InputError(f"Sequences was given {len(self.items)} sequences and {len(self.names)} names")
        self.source, self.title, self.note, self.options = source, title, note, options
        self._summary: str | None = None

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    @property
    def shape(self) -> tuple[int]:
        """How many there are, as tools for arrays ask for it."""
        return (len(self.items),)

    def __getitem__(self, which: Any) -> Any:
        """One sequence by its number, or several by a slice or a row of numbers or of True and False."""
        if isinstance(which, tuple) and len(which) == 2 and which[1] is Ellipsis:
            which = which[0]
        if hasattr(which, "__index__") and getattr(which, "ndim", 0) == 0:
            return self.items[which]
        if isinstance(which, slice):
            chosen = list(range(len(self.items))[which])
        elif len(which) and str(getattr(which[0], "dtype", type(which[0]).__name__)) == "bool":
            chosen = [place for place, kept in enumerate(which) if kept]
        else:
            chosen = [int(place) for place in which]
        names = None if self.names is None else [self.names[place] for place in chosen]
        items = [self.items[place] for place in chosen]
        about: dict[str, Any] = {"source": self.source, "title": self.title, "options": self.options}
        return Sequences(items, names, **about)

    def __repr__(self) -> str:
        about = ": ".join(part for part in (self.source, self.title) if part)
        return f"Sequences ({about}; {self.summary()})" if about else f"Sequences ({self.summary()})"

    def summary(self) -> str:
        """How many sequences and symbols there are, and of how many kinds."""
        from glnn.sequences.tokens import parts_of

        if self._summary is None:
            self._summary = f"{len(self):,} sequence{'s' * (len(self) != 1)}"
            with suppress(InputError):
                parts = parts_of(self).tokens if len(self) else []
                symbols = sum(len(part) for part in parts)
                self._summary += f", {symbols:,} symbol{'s' * (symbols != 1)}"
                if symbols <= _MOST_COUNTED:
                    self._summary += f" of {len(set().union(*(part.distinct() for part in parts))):,} kinds"
        return self._summary
