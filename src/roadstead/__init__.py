"""Roadstead: a Kubernetes control plane for platforms that host many tenants."""

__all__ = ["__version__"]

__version__ = "0.2.0.dev0"
