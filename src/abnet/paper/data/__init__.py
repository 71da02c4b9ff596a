"""The data sets of the paper, and small ones that need no files: read, checked and prepared."""
