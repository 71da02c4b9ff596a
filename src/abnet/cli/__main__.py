"""`python -m abnet.cli`."""

from abnet.cli import main

main()
