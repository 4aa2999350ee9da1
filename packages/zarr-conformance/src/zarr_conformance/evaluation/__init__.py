"""Comparison of responses with the expectations of cases."""
