"""What both drivers run: stores, queue, one pass, its memory. Pure: time is passed in.

`runtime` feeds it from sockets and tasks, `sim` from memory; docs/decisions/one-engine.md says why.
"""
