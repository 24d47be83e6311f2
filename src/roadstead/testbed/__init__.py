"""Kubernetes' own control plane, built and run on this machine, for `roadstead up` and the tests.

Nothing here reads KUBECONFIG, and nothing here touches a cluster that a person did not select with
ROADSTEAD_TEST_KUBECONFIG and mark for tests.
"""
