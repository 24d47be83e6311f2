"""The second driver of the same decisions: a world in memory, and the cases that run in it.

It serves `plan`, the cases and the laws. Nothing here opens a socket, knows the time or guesses:
the same files give the same answer, byte for byte. Where Kubernetes has behaviour of its own the
differential test holds this model of it to the real API server.
"""
