"""YAML text to values with line and column, and back: `parse` reads, `dump` writes."""

from roadstead.kube.documents.read import Document, Parsed, Place, parse
from roadstead.kube.documents.write import dump

__all__ = ["Document", "Parsed", "Place", "dump", "parse"]
