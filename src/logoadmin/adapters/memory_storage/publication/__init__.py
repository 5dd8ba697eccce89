"""Withdrawals and pins."""
