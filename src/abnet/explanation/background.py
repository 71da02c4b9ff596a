"""Against what a row is explained: columns and their features, background rows, and the orders to go through.

All of it is one storable value, so that another program repeats the same computation number by number.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.fingerprint import BACKGROUND_ROWS, decimals, drawn_rows
from abnet.model.model import Model
from abnet.utils import checks
from abnet.utils.coded_rows import dense
from abnet.utils.errors import Parameter, ParameterError

__all__ = ["ColumnLayout", "ExplanationPlan", "column_layout"]

EXACT_COLUMNS = 10
"""Columns in which a row differs from a background row up to which all coalitions are enumerated."""
STEPS = 8192
"""Columns entered for one row in all pairs of orders, about; half as many network evaluations."""
VERSION = 1


@dataclass(frozen=True)
class ColumnLayout:
    """Which column of the caller's every input of the network comes from.

    The inputs are the features of all columns, then the thermometer codes of feature after feature.

    Attributes
    ----------
    names : tuple of str
        The columns that the model uses, in its order; names may repeat.
    owners : tuple of int
        For each feature the place of its column among the names.
    codes : tuple of int
        For each feature the number of its codes.
    original : bool
        Whether these are the caller's own columns; not so where a transformer of another library prepared them.
    """

    names: tuple[str, ...]
    owners: tuple[int, ...]
    codes: tuple[int, ...]
    original: bool = True

    @property
    def n_features(self) -> int:
        """Number of features before the codes."""
        return len(self.owners)

    @property
    def input_owners(self) -> NDArray[np.intp]:
        """The column of every input of the network."""
        features = np.array(self.owners, np.intp)
        return np.concatenate([features, np.repeat(features, self.codes)])


def column_layout(model: Model) -> ColumnLayout:
    """The columns that a model uses, and the inputs that each of them makes.

    Examples
    --------
    >>> from abnet.tables.preparation import StandardMap
    >>> from abnet.tables.preparation.coded import CodedMap
    >>> from abnet.model.predictors.compact import Compact
    >>> table = Compact(np.ones((1, 1, 3)), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
    >>> coded = CodedMap(StandardMap((0, 0), (1, 1)), ((), (0.5,)))
    >>> layout = column_layout(Model(table, preparation=coded, feature_names=("age", "size")))
    >>> layout.names, layout.input_owners.tolist()
    (('age', 'size'), [0, 1, 1])
    """
    preparation = model.preparation
    codes, owners = tuple(map(len, preparation.codes)), preparation.owners
    n = model.n_inputs - sum(codes)
    if owners is None:  # the features themselves are explained
        names = preparation.feature_names or _numbered(n)
        return ColumnLayout(names, tuple(range(n)), codes or (0,) * n, original=False)
    used = sorted(set(owners))  # a constant column makes no signs
    names = tuple(column.name for column in preparation.columns) or model.feature_names or ()
    names = names if len(names) > used[-1] else _numbered(used[-1] + 1)
    at = {place: number for number, place in enumerate(used)}
    return ColumnLayout(tuple(names[place] for place in used), tuple(at[p] for p in owners), codes or (0,) * n)


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"x{place}" for place in range(count))


def _matrix(where: str, value: Any, width: int) -> NDArray[np.float32]:
    """Stored rows of so many features."""
    rows = checks.list_of(checks.list_of(checks.finite))(where, value)
    if not rows or any(len(row) != width for row in rows):
        raise ValueError(f"{where} must be rows of {width} features each.")
    with np.errstate(over="ignore"):
        matrix = np.array(rows, np.float32)
    if not np.isfinite(matrix).all():
        raise ValueError(f"{where} holds numbers beyond float32.")
    return matrix


@dataclass(frozen=True, eq=False)
class ExplanationPlan:
    """All that an explanation depends on besides the model and the row.

    Attributes
    ----------
    columns : ColumnLayout
    background : float32 array (B, features)
        Rows to compare with, as features before the codes.
    permutations : int array (B, P, columns)
        For each background row P orders in which columns are entered; each is gone through forwards and backwards.
    exact_columns : int
        Where a row differs from a background row in at most so many columns, all coalitions are enumerated instead.
    seed : int
        What the orders were drawn with.

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> model = Model(Compact(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> plan = ExplanationPlan.of(model, [[0.0, 1.0], [2.0, 0.5]], pairs=2)
    >>> plan.to_dict()["background"], plan.permutations.shape
    ([[0, 1], [2, 0.5]], (2, 2, 2))
    """

    columns: ColumnLayout
    background: NDArray[np.float32]
    permutations: NDArray[np.intp]
    exact_columns: int = EXACT_COLUMNS
    seed: int = 0

    @staticmethod
    def of(
        model: Model,
        background: Any = None,
        *,
        seed: int = 0,
        pairs: int | None = None,
        exact_columns: int | None = None,
    ) -> "ExplanationPlan":
        """A plan for a model.

        Parameters
        ----------
        model : Predictor
        background : table or array, optional
            Usual rows in the caller's units; of more than 25, so many are drawn. By default those that the model keeps.
        seed : int
            Of the draws.
        pairs : int, optional
            Orders for each background row, each used in both directions; two or more, so that errors can be told. By
            default as many as make about 15,000 evaluations of the network for a row, 2 to 16.
        exact_columns : int, optional
            See the attributes; 0 to 16. By default 10, and where `pairs` is given as many as cost no more evaluations
            than its orders.
        """
        layout = column_layout(model)
        if background is None:
            rows = _stored_rows(model, layout)
        else:
            rows = drawn_rows(dense(model.features(background))[:, : layout.n_features], BACKGROUND_ROWS, seed)
        return ExplanationPlan.drawn(layout, rows, seed=seed, pairs=pairs, exact_columns=exact_columns)

    @staticmethod
    def drawn(
        layout: ColumnLayout,
        rows: NDArray[Any],
        *,
        seed: int = 0,
        pairs: int | None = None,
        exact_columns: int | None = None,
    ) -> "ExplanationPlan":
        """A plan for background rows that are features already; its orders are drawn."""
        if not len(rows) or not np.isfinite(rows).all():
            raise ValueError("the background needs at least one row, and its numbers must be finite.")
        if exact_columns is None:
            exact_columns = EXACT_COLUMNS if pairs is None else _as_cheap_as(pairs)
        if not 0 <= exact_columns <= 16:
            raise ParameterError("{} must be between 0 and 16; got {}.", Parameter("exact_columns"), exact_columns)
        J = len(layout.names)
        P = min(max(STEPS // (len(rows) * J), 2), 16) if pairs is None else checks.count("pairs", pairs, least=2)
        orders = np.broadcast_to(np.arange(J), (len(rows), P, J))
        permutations = np.random.default_rng(seed).permuted(orders, axis=2)
        return ExplanationPlan(layout, np.asarray(rows, np.float32), permutations, exact_columns, seed)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: `from_dict` gives the same plan, and docs/explanation.md says how to use it."""
        layout = self.columns
        return {
            "version": VERSION, "columns": list(layout.names), "owners": list(layout.owners),
            "codes": list(layout.codes), "original": layout.original, "background": decimals(self.background),
            "permutations": self.permutations.tolist(), "exact_columns": self.exact_columns, "seed": self.seed,
        }  # fmt: skip

    @staticmethod
    def from_dict(record: Any) -> "ExplanationPlan":
        """The plan in a record; ValueError for anything that `to_dict` would not have written."""
        where, places = "explanation plan", checks.list_of(checks.tally)
        fields = checks.take(
            where, record, version=checks.one_of(VERSION), columns=checks.list_of(checks.text), owners=places,
            codes=places, original=checks.flag, background=lambda name, value: value,
            permutations=checks.list_of(checks.list_of(places)), exact_columns=checks.tally, seed=checks.tally,
        )  # fmt: skip
        layout = ColumnLayout(fields["columns"], fields["owners"], fields["codes"], fields["original"])
        J, rows = len(layout.names), _matrix(f"{where}.background", fields["background"], layout.n_features)
        if set(layout.owners) != set(range(J)) or len(layout.codes) != layout.n_features:
            raise ValueError(f"{where}: its owners and codes do not fit its {J} columns.")
        orders, counts = fields["permutations"], {len(row) for row in fields["permutations"]}
        whole = all(sorted(order) == list(range(J)) for row in orders for order in row)
        if len(orders) != len(rows) or len(counts) != 1 or min(counts) < 2 or not whole:
            raise ValueError(f"{where}: its permutations do not fit {len(rows)} background rows and {J} columns.")
        if fields["exact_columns"] > 16:
            raise ValueError(f"{where}: exact_columns must be at most 16.")
        return ExplanationPlan(layout, rows, np.array(orders, np.intp), fields["exact_columns"], fields["seed"])

    def thinned(self, evaluations: int) -> "ExplanationPlan":
        """The plan with its first background rows only: as many as take about so many evaluations, 8 at least.

        Examples
        --------
        >>> layout = ColumnLayout(tuple("abcdef"), tuple(range(6)), (0,) * 6)
        >>> plan = ExplanationPlan.drawn(layout, np.zeros((25, 6)), pairs=2)
        >>> len(plan.thinned(336).background), len(plan.thinned(10_000).background)
        (12, 25)
        """
        _, P, J = self.permutations.shape
        rows = max(evaluations // (2 * P * (J + 1)), 8)
        return replace(self, background=self.background[:rows], permutations=self.permutations[:rows])

    def check_fits(self, model: Model) -> None:
        """ValueError if the plan was made for a model with other columns."""
        if self.columns != column_layout(model):
            raise ValueError("this explanation plan was made for a model with other columns; make one for this model.")

    def background_inputs(self, model: Model) -> NDArray[np.float64]:
        """The background rows as the network reads them."""
        return np.asarray(model.preparation.with_codes(self.background), np.float32).astype(np.float64)


def _as_cheap_as(pairs: int) -> int:
    """Players up to which all coalitions are no more evaluations than so many pairs of orders.

    Examples
    --------
    >>> _as_cheap_as(2), _as_cheap_as(16)
    (4, 8)
    """
    return max(k for k in range(EXACT_COLUMNS + 1) if 2**k <= 2 * pairs * (k + 1))


def _stored_rows(model: Model, layout: ColumnLayout) -> NDArray[np.float32]:
    if not model.card.background:
        raise ParameterError(
            "the model keeps no background rows to compare with: give {}, a table of some usual rows.",
            Parameter("background"),
        )
    return _matrix("card.background", [list(row) for row in model.card.background], layout.n_features)
