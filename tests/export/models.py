"""Predictors of every kind that can be exported, with every kind of preparation, and rows for them."""

import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from abnet.model.calibration import Calibration
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.layers import Layers
from abnet.model.predictors.moments import MomentsPredictor
from abnet.model.predictors.paths import Paths
from abnet.model.predictors.pbgnet import PBGNetPredictor
from abnet.model.predictors.predictor import Predictor
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words
from abnet.tables.columns import (
    BooleanColumn,
    Column,
    DateColumn,
    HashedColumn,
    NumericColumn,
    TextColumn,
    WordsColumn,
)
from abnet.tables.labels import Labels
from abnet.tables.number_forms import NumberForm
from abnet.tables.preparation import MinMaxMap, StandardMap, TableMap, ThermometerMap
from abnet.tables.preparation.coded import CodedMap
from abnet.tables.unseen import UnseenWarning
from model.every_kind import certificate

HOSTILE = ('"; rm -rf / #', "<script>alert(1)</script>", "*/ int main(void) {", "n" * 300, "größe\u202e", "größe ")
"""Names of columns that try to get out of their quotes, comments and lines, and two that look alike."""


def vowels() -> Labels:
    return Labels(np.array(["heed", 'say "aah" */', "??/", "ö\\", "x" * 50]))


def model(kind: str, n_inputs: int, *, seed: int = 0, width: int = 5, **about: Any) -> Model:
    """A model with a predictor of a kind; 'mixture' has two classes, 'classes' has five unless labels are given."""
    rng = np.random.default_rng(seed)
    K = len(getattr(about.get("labels", vowels()), "names", about.get("labels", ())))
    if kind.startswith("wide"):
        width = 30
    elif kind == "drawn classes, one layer":
        width = 3

    def network(*above: int) -> BAM:
        net = BAM.init(rng, (n_inputs, width, *above))
        return BAM(tuple(6 * W for W in net.weights), tuple(rng.normal(size=b.shape) for b in net.biases))

    def words(length: int) -> Any:
        if (K, length) == (5, 3):
            return BOOK
        return code_words(K, length)

    makers: dict[str, Callable[[], Predictor]] = {
        "compact": lambda: Compact.from_networks([network(4, 1)]),
        "drawn": lambda: Layers.from_network(network(4, 1)),
        "wide drawn": lambda: Layers.from_network(network(25, 1)),
        "mixture": lambda: Compact.from_networks([network(3, 1) for _ in range(4)]),
        "paths": lambda: Paths.from_networks([network(7, 1)], rng, n_paths=9),
        "mixture of paths": lambda: Paths.from_networks([network(1) for _ in range(2)], rng, n_paths=30),
        "pbgnet": lambda: PBGNetPredictor.from_networks([network(4, 1), network(4, 1)]),
        "wide pbgnet": lambda: PBGNetPredictor.from_networks([network(20, 3, 1)]),
        "wide exact": lambda: PBGNetPredictor.from_networks([network(1) for _ in range(2)]),
        "classes": lambda: Compact.from_networks([network(4) for _ in range(3)], words(4)),
        "classes by paths": lambda: Paths.from_networks(
            [network(6, 5) for _ in range(3)], rng, n_paths=40, words=words(5)
        ),
        "a code book of its own": lambda: Paths.from_networks(
            [network(3) for _ in range(2)], rng, n_paths=10, words=words(3)
        ),
        "moments": lambda: MomentsPredictor.from_networks([network(7, 1) for _ in range(2)], e=0.5),
        "moments of classes": lambda: MomentsPredictor.from_networks([network(9, 5) for _ in range(3)], words(5)),
        "wide moments of classes": lambda: MomentsPredictor.from_networks([network(4) for _ in range(3)], words(4)),
        "rounded moments of classes": lambda: MomentsPredictor.from_networks([network(4)] * 2, words(4)).rounded(),
        "drawn classes": lambda: Layers.from_network(network(4, 3), words(3)),
        "drawn classes, one layer": lambda: Layers.from_network(network(), words(3)),
        "wide drawn classes": lambda: Layers.from_network(network(25, 3), words(3)),
    }
    if "classes" in kind or kind == "a code book of its own":
        about = {"labels": vowels(), **about}
    if "drawn" not in kind:
        about = {"certificate": certificate(), **about}
    return Model(makers[kind](), **about)


BOOK = np.array([[1, 1, -1], [-1, -1, -1], [-1, 1, 1], [1, -1, 1], [1, 1, 1]], np.int8)
"""Words for five classes that are not those of `abnet.networks.cube`: a model keeps the ones that it was made with."""

KINDS = (
    "compact", "drawn", "wide drawn", "mixture", "classes", "paths", "mixture of paths", "classes by paths",
    "a code book of its own", "drawn classes", "drawn classes, one layer", "wide drawn classes", "moments",
    "moments of classes", "wide moments of classes", "rounded moments of classes", "pbgnet", "wide pbgnet",
    "wide exact",
)  # fmt: skip


def columns(names: tuple[str, ...] | None = None, *, words: bool = True, hashed: bool = False) -> TableMap:
    """A table with a column of every kind: C reads no words, and only JavaScript reads hashed text."""
    own = ("age", "income", "member", "city", "colour", "born", "remark", "diary")
    given = (*(names or ()), *own[len(names or ()) :])
    a, b, c, d, e, f, g, h = given
    every: list[Column] = [
        NumericColumn(a, 40.0, 38.5, 13.25, True),
        NumericColumn(b, 100.0, 150.0, 77.7, False, NumberForm(before="$", thousands=",")),
        BooleanColumn(c, True),
        TextColumn(d, ("", "Oslo", "København", 'q"uote', "a" * 5000, "z\\"), ("Bergen",), True),
        TextColumn(e, ("blue", "red"), (), False),
        DateColumn(f, "year-month-day", 10000.0, 9000.0, 4000.0, True, True),
    ]
    if words:
        every.append(WordsColumn(g, ("mr", "mrs", "nan", "grösse"), True))
    if hashed:
        every.append(HashedColumn(h, 13, True))
    return TableMap(tuple(every))


STORIES = [
    "Mr. Smith", "mrs Jones", "MRS-JONES mr_x", "mrss", "nan", "a nan here", "", "mr2mr", "x", "No 17", "a  b\tc",
    "Größe mr", "ÉMR", "GRÖSSE GRÖßE", "xgrößex", "groẞe größẞe ſtraße K", "mr—mrs", "Grö\u0307ße", "x\u3000y\u00a0z",
    "٣ and ৪২", "ﬃ ΐ İstanbul ŉ", "Ωmega ΣΑΣ ς", "漢字 かな 한글", "𝔄𝔅 😀😀 𐐀𐐁", "½ Ⅷ x²", "_under_score_",
    "\u200bzero", "ꭰ Ꭰ ᏸ", "ǅ Ǆ ǆ", "a\u0345b", "\ufeffmr",
]  # fmt: skip
"""Texts with letters, digits and blanks of many scripts, and folds that make one character two or three."""


def strange_texts() -> list[str]:
    """Every character that case folding changes, and the first, the last and the next of every run of letters, digits
    and blanks, each between letters that must not run together with it.
    """
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    found = {c for c in everything if c != c.casefold()}
    for pattern in (r"[^\W\d_]+", r"\d+", r"\s+"):
        for match in re.finditer(pattern, everything):
            found.update(
                everything[match.start() - 1 : match.start() + 1] + everything[match.end() - 1 : match.end() + 1]
            )
    return [f"ab{c}cd {c}{c}" for c in sorted(found) if not "\ud7ff" < c < "\ue000" and c != "\0"]


def table(n: int, names: list[str], *, seed: int = 1) -> pl.DataFrame:
    """Rows with missing values, unseen categories, blanks around texts, truths and words."""
    rng = np.random.default_rng(seed)

    def holes(values: Any) -> list[Any]:
        return [None if hole else value for value, hole in zip(list(values), rng.random(n) < 0.15, strict=True)]

    city = ["Oslo", "København", 'q"uote', "a" * 5000, "z\\", "Bergen", "Nowhere", "NaN", "<NA>", "oslo", "null"]
    parts: list[Any] = [
        holes(rng.normal(40, 15, n).round(1).tolist()),
        holes((rng.random(n) * 400).tolist()),
        holes((rng.random(n) < 0.5).tolist()),
        holes(rng.choice(city, n).tolist()),
        holes(rng.choice(["red", "blue", "green"], n).tolist()),
        holes((rng.random(n) * 20000).round(3).tolist()),
        holes(rng.choice(STORIES, n).tolist()),
        holes(rng.choice(STORIES, n).tolist()),
    ]
    return pl.DataFrame(dict(zip(names, parts, strict=False)), strict=False)


def with_dates(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Days since 1970-01-01 as a type of dates, as a user's table has them."""
    micro = (frame[name] * 86_400_000_000).round().cast(pl.Int64).cast(pl.Datetime("us"))
    return frame.with_columns(micro.alias(name))


def preparations(n: int) -> dict[str, Any]:
    """Preparations of arrays with n columns, and the number of features that they make."""
    rng = np.random.default_rng(4)
    mean = tuple(rng.normal(size=n).tolist())
    scale = tuple((0.5 + rng.random(n)).tolist())
    thresholds = tuple(tuple(sorted(rng.normal(size=3 * (i % 2)).tolist())) for i in range(n))
    standard = StandardMap(mean, scale)
    return {
        "none": None,
        "standard": standard,
        "minmax": MinMaxMap(scale, mean, None),
        "clipped": MinMaxMap(scale, mean, (-0.5, 1.25)),
        "thermometer": ThermometerMap(thresholds),
        "coded": CodedMap(standard, thresholds),
    }


def calibrated() -> Calibration:
    return Calibration(2.5, 0.01)


def lone_columns() -> dict[str, tuple[TableMap, pl.DataFrame]]:
    """Tables of one column, with fewer features than `columns` has: nothing missing, one value, no category."""
    numeric = pl.DataFrame({"x": [1.0, 50.0, None, 99.5] * 5})
    text = lone_text()
    truth = pl.DataFrame({"x": [1.0, 0.0, None, 2.0] * 5})
    found: dict[str, tuple[Any, pl.DataFrame]] = {
        "number without flag": (NumericColumn("x", 40.0, 38.5, 13.25, False), numeric),
        "flag without number": (NumericColumn("x", 40.0, 40.0, None, True), numeric),
        "truth": (BooleanColumn("x", False), truth),
        "categories": (TextColumn("x", ("Oslo",), (), False), text),
        "rare ones and gaps share": (TextColumn("x", ("Oslo",), None, False), text),
        "gaps only": (TextColumn("x", (), (), True), text),
    }
    return {name: (TableMap((column,)), frame) for name, (column, frame) in found.items()}


def lone_text() -> pl.DataFrame:
    """One column of texts, some of them missing."""
    return pl.DataFrame({"x": ["Oslo", "", "Lima", "", "nan"] * 4})


def lively(table: TableMap, frame: pl.DataFrame) -> Model:
    """The first of some random models that does not put all rows into one class."""
    for seed in range(50):
        found = model("compact", table.n_features_out, seed=seed, preparation=table)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenWarning)
            if len(set(found.predict(frame).tolist())) > 1:
                return found
    raise AssertionError("no model tells the rows apart")
