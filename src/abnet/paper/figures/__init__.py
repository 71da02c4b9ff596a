"""The figures of the paper: one file trains or measures what a figure shows, and draws it."""
