"""ServiceDefinitions: one short file per service in, every Kubernetes object out (seed 003)."""
