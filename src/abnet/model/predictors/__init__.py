"""Fitted predictors, which need only NumPy and SciPy; they are what is deployed and certified."""
