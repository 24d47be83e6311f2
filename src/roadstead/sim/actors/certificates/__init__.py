"""The part of cert-manager that tenant gateways rely on: issuers that are ready, and certificates.

A Certificate becomes a Secret of type `kubernetes.io/tls` with a real chain, issued again when its
names or its issuer change, when its Secret is lost and when it has expired; its Secret outlives it,
as with `enableCertificateOwnerRef: false`. ACME issuers and self-signed ones are played, any other
is somebody else's. Left out: proofs of a name (orders, challenges and their routes; every name is
taken to be proven), account keys, requests, key stores, names other than DNS, renewal before the
end. Keys are Ed25519 and derived from names, so that every run gives the same bytes: they keep no
secret. A Secret that was not issued for the Certificate is left alone, where cert-manager would
write into it.
"""

from roadstead.capabilities.gateways import api
from roadstead.sim.actors.certificates.issuing import ISSUING_CONTROLLER
from roadstead.sim.actors.certificates.trusting import TRUSTING_CONTROLLERS

CERTIFICATES_CONTROLLERS = (*TRUSTING_CONTROLLERS, ISSUING_CONTROLLER)
CERTIFICATES_KINDS = (api.CERTIFICATE, api.ISSUER, api.CLUSTER_ISSUER, api.TENANT_GATEWAY)

__all__ = ["CERTIFICATES_CONTROLLERS", "CERTIFICATES_KINDS"]
