"""`python -m abnet`."""

from abnet.cli import main

main()
