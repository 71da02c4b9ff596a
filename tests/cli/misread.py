"""Tables that were misread in silence: the thousands of a table with semicolons, and the index of a sorted one."""

import numpy as np


def thousands(n: int = 600, *, seed: int = 0) -> str:
    """People in towns, with a point for thousands; large are those of 6,000 and more, but for one in ten mistakes."""
    rng = np.random.default_rng(seed)
    people = rng.integers(100, 12_000, n)
    labels = np.where((people >= 6_000) ^ (rng.random(n) < 0.1), "large", "small")
    lines = [f"{f'{number:,}'.replace(',', '.')};{label}" for number, label in zip(people, labels, strict=True)]
    return "\n".join(["people;size", *lines, ""])


def indexed(n: int = 1000, *, seed: int = 0, in_order: bool = True) -> str:
    """A frame of pandas written with its index, sorted by the label, which its one column hardly tells."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = (x + 3 * rng.normal(size=n) > 0).astype(int)
    if in_order:
        order = np.argsort(y, kind="stable")
    else:
        order = np.arange(n)
    return "\n".join([",x,y", *(f"{i},{x[row]:.3f},{y[row]}" for i, row in enumerate(order)), ""])
