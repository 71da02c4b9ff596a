"""Training: objectives, compiled epochs, early stopping, priors, many settings at once."""
