"""Fitted predictors in NumPy and SciPy alone: what is deployed, and what is certified."""
