"""What a tenant gateway has others make. Source: tenant-gateway 3."""
