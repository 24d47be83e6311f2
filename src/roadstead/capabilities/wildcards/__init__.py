"""Wildcard replicas: the platform's certificate in every namespace that ends TLS itself."""
