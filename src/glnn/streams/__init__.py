"""Symbols as they arrive: push one, see what it cost and what was expected instead, save, continue elsewhere."""

from glnn.streams.group import Streams
from glnn.streams.stream import Expected, Pushed, Stream

__all__ = ["Expected", "Pushed", "Stream", "Streams"]
