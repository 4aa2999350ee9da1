"""Asking an implementation, case by case, within limits."""
