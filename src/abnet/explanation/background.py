"""Background rows, column layout and orders of the columns: what an explanation depends on besides model and row.

An `ExplanationPlan` holds all of it as one value that can be stored, so that another program computes the same numbers.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.explanation.background_rows import BACKGROUND_ROWS, decimals, drawn_rows
from abnet.model.model import Model
from abnet.model.predictors.predictor import as_matrix
from abnet.utils import checks
from abnet.utils.coded_rows import dense
from abnet.utils.errors import Parameter, ParameterError

__all__ = ["ColumnLayout", "ExplanationPlan", "column_layout", "network_inputs"]

EXACT_COLUMNS = 10
"""All coalitions are enumerated if a row differs from a background row in at most this many columns."""
MOST_EXACT_COLUMNS = 16
"""Largest value of `exact_columns` that a plan accepts: 2^16 network evaluations for each background row."""
STEPS = 8192
"""About how many times a column is added to a coalition for one row; each pair of orders evaluates the network twice
as often."""
MOST_PAIRS = 16
"""Maximum number of pairs of orders for a background row, unless the caller asks for more."""
VERSION = 1
"""Version of the stored form of a plan."""


@dataclass(frozen=True)
class ColumnLayout:
    """Maps each input of the network to the caller's column that it comes from.

    The inputs are the features of all columns, followed by the thermometer codes of each feature in turn.

    Attributes
    ----------
    names : tuple of str
        The columns that the model uses, in its order; names may repeat.
    owners : tuple of int
        For each feature, the position of its column among the names.
    codes : tuple of int
        For each feature, the number of its codes.
    original : bool
        Whether these are the caller's own columns. False if a transformer of another library made the features.
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
    codes = tuple(map(len, preparation.codes))
    n_features = model.n_inputs - sum(codes)
    if not codes:
        codes = (0,) * n_features
    if preparation.owners is None:  # columns are unknown, so the features themselves are explained
        names = preparation.feature_names or _numbered(n_features)
        return ColumnLayout(names=names, owners=tuple(range(n_features)), codes=codes, original=False)
    used = sorted(set(preparation.owners))  # a constant column has no features
    names = tuple(column.name for column in preparation.columns) or model.feature_names or ()
    if len(names) <= used[-1]:
        names = _numbered(used[-1] + 1)
    position = {column: number for number, column in enumerate(used)}
    return ColumnLayout(
        names=tuple(names[column] for column in used),
        owners=tuple(position[column] for column in preparation.owners),
        codes=codes,
    )


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"x{place}" for place in range(count))


def network_inputs(inputs: Any, n_inputs: int) -> NDArray[np.float64]:
    """Prepared rows as the network reads them: rounded to float32."""
    return dense(as_matrix(inputs, n_inputs)).astype(np.float32).astype(np.float64)


def _matrix(where: str, value: Any, width: int) -> NDArray[np.float32]:
    """Stored rows as a matrix with this many features."""
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
    """Everything that an explanation depends on besides the model and the row.

    Attributes
    ----------
    columns : ColumnLayout
    background : float32 array (B, features)
        Rows to compare with, as features without codes.
    permutations : int array (B, P, columns)
        For each background row, P orders of the columns. Each order is used forwards and backwards.
    exact_columns : int
        If a row differs from a background row in at most this many columns, all coalitions are enumerated instead.
    seed : int
        Seed that the orders were drawn with.

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
            Typical rows in the caller's units; if there are more than 25, 25 are drawn. By default the training rows
            that the model keeps.
        seed : int
            Seed of all draws.
        pairs : int, optional
            Number of orders for each background row, each used in both directions; at least two, so that standard
            errors can be computed. By default about 15,000 evaluations of the network per row, with 2 to 16 orders.
        exact_columns : int, optional
            See the attributes; 0 to 16. By default 10. If `pairs` is given, the default is the largest number whose
            coalitions cost no more evaluations than the orders.
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
        """A plan with randomly drawn orders for background rows that are already features."""
        if not len(rows) or not np.isfinite(rows).all():
            raise ValueError("the background needs at least one row, and its numbers must be finite.")
        J = len(layout.names)
        if pairs is None:
            n_orders = min(max(STEPS // (len(rows) * J), 2), MOST_PAIRS)
            default_exact = EXACT_COLUMNS
        else:
            n_orders = checks.count("pairs", pairs, least=2)
            default_exact = _as_cheap_as(n_orders)
        if exact_columns is None:
            exact_columns = default_exact
        if not 0 <= exact_columns <= MOST_EXACT_COLUMNS:
            raise ParameterError(
                "{} must be between 0 and {}; got {}.", Parameter("exact_columns"), MOST_EXACT_COLUMNS, exact_columns
            )
        orders = np.broadcast_to(np.arange(J), (len(rows), n_orders, J))
        return ExplanationPlan(
            columns=layout,
            background=np.asarray(rows, np.float32),
            permutations=np.random.default_rng(seed).permuted(orders, axis=2),
            exact_columns=exact_columns,
            seed=seed,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON. `from_dict` gives the same plan; docs/explanation.md describes the fields."""
        layout = self.columns
        return {
            "version": VERSION,
            "columns": list(layout.names),
            "owners": list(layout.owners),
            "codes": list(layout.codes),
            "original": layout.original,
            "background": decimals(self.background),
            "permutations": self.permutations.tolist(),
            "exact_columns": self.exact_columns,
            "seed": self.seed,
        }

    @staticmethod
    def from_dict(record: Any) -> "ExplanationPlan":
        """The plan in a record; ValueError for anything that `to_dict` would not have written."""
        where = "explanation plan"
        places = checks.list_of(checks.tally)
        fields = checks.fields(
            where,
            record,
            version=checks.one_of(VERSION),
            columns=checks.list_of(checks.text),
            owners=places,
            codes=places,
            original=checks.boolean,
            background=lambda name, value: value,
            permutations=checks.list_of(checks.list_of(places)),
            exact_columns=checks.tally,
            seed=checks.tally,
        )
        layout = ColumnLayout(fields["columns"], fields["owners"], fields["codes"], fields["original"])
        J = len(layout.names)
        rows = _matrix(f"{where}.background", fields["background"], layout.n_features)
        if set(layout.owners) != set(range(J)) or len(layout.codes) != layout.n_features:
            raise ValueError(f"{where}: its owners and codes do not fit its {J} columns.")
        if not _orders_fit(fields["permutations"], len(rows), J):
            raise ValueError(f"{where}: its permutations do not fit {len(rows)} background rows and {J} columns.")
        if fields["exact_columns"] > MOST_EXACT_COLUMNS:
            raise ValueError(f"{where}: exact_columns must be at most {MOST_EXACT_COLUMNS}.")
        return ExplanationPlan(
            columns=layout,
            background=rows,
            permutations=np.array(fields["permutations"], np.intp),
            exact_columns=fields["exact_columns"],
            seed=fields["seed"],
        )

    def thinned(self, evaluations: int) -> "ExplanationPlan":
        """The plan with its first background rows only: as many as cost about this many evaluations, at least 8.

        Examples
        --------
        >>> layout = ColumnLayout(tuple("abcdef"), tuple(range(6)), (0,) * 6)
        >>> plan = ExplanationPlan.drawn(layout, np.zeros((25, 6)), pairs=2)
        >>> len(plan.thinned(336).background), len(plan.thinned(10_000).background)
        (12, 25)
        """
        _, P, J = self.permutations.shape
        n_rows = max(evaluations // (2 * P * (J + 1)), 8)
        return replace(self, background=self.background[:n_rows], permutations=self.permutations[:n_rows])

    def check_fits(self, model: Model) -> None:
        """ValueError if the plan was made for a model with other columns."""
        if self.columns != column_layout(model):
            raise ValueError("this explanation plan was made for a model with other columns; make one for this model.")

    def background_inputs(self, model: Model) -> NDArray[np.float64]:
        """The background rows as the network reads them."""
        return np.asarray(model.preparation.with_codes(self.background), np.float32).astype(np.float64)


def _orders_fit(permutations: Any, n_rows: int, n_columns: int) -> bool:
    """Whether there are equally many orders for each row, at least two, and each is an order of all columns."""
    if len(permutations) != n_rows:
        return False
    counts = {len(orders) for orders in permutations}
    if len(counts) != 1 or min(counts) < 2:
        return False
    return all(sorted(order) == list(range(n_columns)) for orders in permutations for order in orders)


def _as_cheap_as(pairs: int) -> int:
    """The most players whose coalitions cost no more evaluations than this many pairs of orders.

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
