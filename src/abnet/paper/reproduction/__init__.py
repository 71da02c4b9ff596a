"""Table 1 and its variants: the grid, the race, the selection, the comparison with the paper, and their files."""
