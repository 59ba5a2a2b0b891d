"""Predicted launches of GPU kernels: trained, and measured beside controls."""
