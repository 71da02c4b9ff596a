"""scikit-learn classifiers: check input, call training, hold results."""
