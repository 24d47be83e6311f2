"""Builders: what each heading of the contract's section 3 becomes.

Pure functions from a snapshot to rendered objects; nothing here reads a file or knows another
service than through the catalog.
"""
