"""Customers and their orders."""
