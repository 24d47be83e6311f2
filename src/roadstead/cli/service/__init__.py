"""`roadstead service`: from definitions to manifests. One module a verb."""
