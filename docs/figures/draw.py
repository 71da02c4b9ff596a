"""Draw the figures of the concept pages: ``python docs/figures/draw.py [FOLDER]`` (by default the folder of this file).

Plain SVG without a plotting library. Each figure brings its own background and follows the reader's colour scheme, so
that it can be read on light and dark pages. Every number in them is computed, with fixed seeds.
"""

import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from svg_parts import arrow, box, curve, figure, line, text

from abnet import Monitor
from abnet.bounds import clopper_pearson_bound


def split() -> str:
    """Which rows train the model, and which are only counted."""
    parts = [text(24, 34, "Your table, in a random order", "ink big")]
    parts += [box(24, 50, 420, 46, "pale"), text(234, 78, "training rows (60%)", "ink mid")]
    parts += [box(452, 50, 284, 46, "cream"), text(594, 78, "held-out rows (40%)", "ink mid")]
    for x, words in ((24, "preparation"), (170, "model"), (316, "thresholds")):
        parts += [box(x, 140, 128, 44, "pale"), text(x + 64, 167, words, "ink mid small")]
    parts += [line(x, 96, x, 138, "axis") for x in (88, 234, 380)]
    parts += [
        arrow(446, 500, 162),
        box(502, 140, 234, 44, "cream"),
        text(619, 167, "predict, and count the errors", "ink mid small"),
    ]
    parts += [line(619, 96, 619, 138, "axis"), line(619, 184, 619, 222, "axis")]
    parts += [box(452, 224, 284, 62, "bg"), text(594, 250, "6 errors on 228 held-out rows:", "ink mid")]
    bound = math.ceil(1000 * clopper_pearson_bound(6, 228, 0.05)) / 1000  # rounded up, as certificates are
    parts += [text(594, 272, f"at most {100 * bound:.1f}%, with 95% confidence", "amber mid")]
    parts += [
        text(24, 250, "Nothing on the left ever sees a held-out row."),
        text(24, 272, "That is why the count on the right can be trusted.", "soft"),
    ]
    return figure(760, 310, "Training rows make the model; held-out rows are only counted", *parts)


def confidence() -> str:
    """Forty samples, the bound of each, and the true error that is the same for all."""
    true, n, repeats, delta = 0.05, 300, 40, 0.05
    errors = np.random.default_rng(11).binomial(n, true, repeats)
    bounds = np.array([clopper_pearson_bound(int(k), n, delta) for k in errors])
    left, bottom, high = 60, 262, 0.12

    def y(value: float) -> float:
        return bottom - value / high * 200

    parts = [
        text(
            24,
            32,
            f"{repeats} samples of {n} held-out rows, one certificate each; the true error rate is 5%",
            "ink big",
        )
    ]
    for tick in (0, 0.05, 0.1):
        parts += [
            line(left, y(tick), 736, y(tick), "rule"),
            text(left - 8, y(tick) + 5, f"{100 * tick:.0f}%", "soft end small"),
        ]
    for place, (seen, bound) in enumerate(zip(errors / n, bounds, strict=True)):
        x, kind = left + 16 + place * 16.6, "amber" if bound < true else "blue"
        parts += [
            line(x, y(seen), x, y(bound), f"l{kind}"),
            f'<circle cx="{x:.1f}" cy="{y(seen):.1f}" r="2.5" class="soft"/>',
        ]
        parts.append(box(x - 5, y(bound) - 1.5, 10, 3, kind, 1))
    parts.append(line(left, y(true), 736, y(true), "lamber"))
    wrong = int((bounds < true).sum())
    parts.append(
        text(
            24,
            294,
            "dot: error rate seen; bar: certified upper bound. "
            f"Of the {repeats} bounds, {wrong} lies below the true error rate.",
        )
    )
    parts.append(text(24, 313, "95% confidence allows 5% on average: 2 of 40.", "soft"))
    return figure(760, 330, "What 95% confidence means: few certificates of many are false", *parts)


def rows() -> str:
    """How the bound falls with the number of held-out rows."""
    sizes = np.unique(np.round(np.geomspace(20, 20_000, 60)).astype(int))
    left, bottom, high = 60, 262, 0.30

    def at(n: float, value: float) -> tuple[float, float]:
        return left + np.log(n / 20) / np.log(1000) * 600, bottom - min(value, high) / high * 200

    parts = [text(24, 32, "Certified error rate (95% confidence) against the number of held-out rows", "ink big")]
    for tick in (0, 0.1, 0.2, 0.3):
        height = at(20, tick)[1]
        parts += [
            line(left, height, 660, height, "rule"),
            text(left - 8, height + 5, f"{100 * tick:.0f}%", "soft end small"),
        ]
    for n in (20, 100, 1000, 10_000):
        x = at(n, 0)[0]
        parts += [line(x, bottom, x, bottom + 5, "axis"), text(x, bottom + 20, f"{n:,}", "soft mid small")]
    for seen, kind in ((0.1, "violet"), (0.05, "amber"), (0.02, "green"), (0.0, "blue")):
        whole = np.unique(np.maximum(np.round(sizes * seen), 1) / seen if seen else sizes)  # whole numbers of errors
        points = [at(n, clopper_pearson_bound(round(seen * n), round(n), 0.05)) for n in whole]
        parts.append(curve(points, f"l{kind}"))
        parts.append(
            text(points[-1][0] + 8, points[-1][1] + (5 if seen else 11), f"{100 * seen:.0f}% seen", f"{kind} small")
        )
    parts.append(
        text(24, 308, "With no error at all, 59 held-out rows are needed to promise 5%, and 299 to promise 1%.", "soft")
    )
    return figure(760, 326, "More held-out rows give a tighter bound", *parts)


def watch() -> str:
    """A monitor's evidence on a log scale: while the promise holds, and after the error rate doubled."""
    promised, alpha, change, n = 0.08, 0.01, 600, 1200
    rng = np.random.default_rng(4)
    mistakes = np.concatenate([rng.random(change) < 0.06, rng.random(n - change) < 0.18])
    monitor, evidence = Monitor(error=promised, alpha=alpha), []
    raised = None
    for place, wrong in enumerate(mistakes):
        monitor.update(np.array([wrong]))
        evidence.append(monitor.evidence)
        raised = place + 1 if raised is None and monitor.alarm else raised
    left, bottom = 70, 252

    def at(row: float, value: float) -> tuple[float, float]:
        return left + row / n * 660, bottom - (np.log10(np.clip(value, 1e-3, 1e4)) + 3) / 7 * 190

    parts = [
        text(24, 32, "A monitor of the promise “at most 8% errors”: the error rate rises after row 600", "ink big")
    ]
    for power in (-3, -1, 1, 3):
        height = at(0, 10.0**power)[1]
        label = f"{10.0**power:g}"
        parts += [line(left, height, 730, height, "rule"), text(left - 8, height + 5, label, "soft end small")]
    threshold = at(0, 1 / alpha)[1]
    parts += [
        line(left, threshold, 730, threshold, "lamber"),
        text(left + 8, threshold - 6, "alarm at 100", "amber small"),
    ]
    x = at(change, 1)[0]
    parts += [line(x, 58, x, bottom, "axis"), text(x + 6, bottom - 6, "the change", "soft small")]
    parts.append(curve([at(row + 1, value) for row, value in enumerate(evidence) if row % 4 == 0], "lblue"))
    for row, side in ((0, "soft small"), (600, "soft mid small"), (1200, "soft end small")):
        parts.append(text(at(row, 1)[0], bottom + 20, f"row {row:,}", side))
    parts.append(
        text(
            24,
            300,
            f"The alarm comes at row {raised:,}. "
            "While the promise holds, the chance of ever raising one is at most 1%.",
        )
    )
    return figure(760, 318, "A monitor raises an alarm after the error rate rises", *parts)


FIGURES: dict[str, Callable[[], str]] = {"split": split, "confidence": confidence, "rows": rows, "watch": watch}


def main(arguments: list[str]) -> None:
    """Write every figure."""
    folder = Path(arguments[0]) if arguments else Path(__file__).parent
    for name, draw in FIGURES.items():
        (folder / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
