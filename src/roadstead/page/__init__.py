"""The status page's documents, made from what running controllers have decided.

Pure but for reads: it opens no socket and writes nothing. `runtime.page` serves it.
"""

from roadstead.page.site import Site

__all__ = ["Site"]
