"""YAML text to values with line and column, and back: `parse` reads, `dump` writes."""

from roadstead.kube.documents.read import Document, Parsed, RepeatedKeyError, parse
from roadstead.kube.documents.text import Place
from roadstead.kube.documents.write import Noted, dump

__all__ = ["Document", "Noted", "Parsed", "Place", "RepeatedKeyError", "dump", "parse"]
