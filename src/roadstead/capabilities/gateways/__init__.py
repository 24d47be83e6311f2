"""Tenant gateways: from platform values to one Gateway for each tenant that owns one (seed 004)."""
