"""`Features`: rows prepared for a network, by a preparation fitted on the first part."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from abnet.certificates.row_by_row import check_row_by_row, fits_anew
from abnet.tables.cells import is_blank
from abnet.tables.notes import Note
from abnet.tables.preparation import CodedMap, Preparation, as_preparation
from abnet.tables.preparation.array_checks import check_preprocessor, check_size, has_far_cells, hint_at_scales
from abnet.tables.preparation.foreign import Foreign
from abnet.tables.preparation.plain_numbers import PlainNumbers
from abnet.tables.preparation.preparation import Unprepared
from abnet.tables.preparation.scalers import StandardMap
from abnet.tables.preparation.table_map import TableMap
from abnet.tables.preparation.table_preparation import TablePreparation
from abnet.tables.preparation.thermometer_codes import ThermometerCodes
from abnet.tables.preparation.training_inputs import TrainingInputs
from abnet.tables.table import Table, as_table
from abnet.training.labelled_rows import LabelledRows
from abnet.utils.caller_rows import is_frame, take_rows
from abnet.utils.coded_rows import CodedRows, dense
from abnet.utils.permutation import ordered, places_in

__all__ = ["Features", "allows_certificate", "is_our_own", "prepare", "transformer_for"]

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Features:
    """Prepared rows, those of the first part first.

    Attributes
    ----------
    base : float32 array (n, d)
        The features without codes.
    n_first : int
        Number of rows of the first part.
    stored : Preparation
        The preparation that a model stores, without codes.
    transformer : object or None
        The fitted scikit-learn transformer.
    coded : CodedMap or None
        Thermometer codes that are added to the features.
    ids : mapping of str to int array (n_first,)
        Columns that were left out because they say which rows belong together: the number of each row's value.
    training : TrainingInputs or None
        The range of every column in the rows that the preparation was fitted on; None if the columns are unknown.
    """

    base: NDArray[np.float32]
    n_first: int
    stored: Preparation
    transformer: Any = None
    coded: CodedMap | None = None
    ids: Mapping[str, Places] = field(default_factory=dict)
    training: TrainingInputs | None = None

    @property
    def first(self) -> NDArray[np.float32]:
        """Rows of the first part, without codes."""
        return self.base[: self.n_first]

    @property
    def bound(self) -> NDArray[np.float32]:
        """The other rows, without codes."""
        return self.base[self.n_first :]

    def inputs(self, rows: slice | Places) -> NDArray[np.float32] | CodedRows:
        """Inputs of the network for some of the rows; codes are not written out."""
        return self.base[rows] if self.coded is None else self.coded.with_codes(self.base[rows])

    @property
    def preparation(self) -> Preparation:
        """The preparation of the model, with codes if there are any."""
        return self.stored if self.coded is None else self.coded

    @property
    def name(self) -> str | None:
        """Name of the preparation: the value of the parameter `preprocessor`, or the name of its class."""
        from sklearn.preprocessing import StandardScaler

        known = {TablePreparation: "table", PlainNumbers: "auto", StandardScaler: "standardise", type(None): None}
        return known.get(type(self.transformer), type(self.transformer).__name__)

    @property
    def cells(self) -> Places:
        """The input column that each prepared feature comes from."""
        owners = self.stored.owners
        return np.arange(self.base.shape[1]) if owners is None else np.array(owners)

    def with_notes(self, notes: tuple[Note, ...]) -> "Features":
        """The features with other notes about the columns of the table."""
        stored = msgspec.structs.replace(self.stored, notes=notes)
        self.transformer.map_ = stored
        coded = None if self.coded is None else msgspec.structs.replace(self.coded, base=stored)
        return replace(self, stored=stored, coded=coded)

    def code_map(self) -> CodedMap | None:
        """Codes with thresholds fitted on the first part; None for a preparation that cannot be stored."""
        base, d = self.stored, self.base.shape[1]
        if isinstance(base, Unprepared):  # a file has no codes beside nothing
            base = StandardMap((0.0,) * d, (1.0,) * d)
        return None if base.why_not_stored else CodedMap.of(base, self.first)


def prepare(
    rows: LabelledRows,
    preprocessor: Any,
    marks: NDArray[np.float64],
    parts: tuple[Places, Places],
    fit_on: Places | None,
    *,
    scaled: bool = True,
) -> Features:
    """Fit a preparation on some rows, and prepare all rows, the first part first.

    Parameters
    ----------
    rows : LabelledRows
    preprocessor : transformer, str or None
        As passed to the classifier.
    marks : array (n,)
        Labels as numbers.
    parts : two arrays of indices
        The first part, and the other rows.
    fit_on : array of indices or None
        Rows to fit it on; None for all.
    scaled : bool
        Whether "auto" scales numbers.
    """
    X, order = rows.X, np.concatenate(parts)
    wanted = transformer_for(rows, preprocessor, fit_on, scaled=scaled)
    if wanted is None:
        matrix = _finite(X)
        hint_at_scales(matrix)
        training = _training_inputs(Unprepared(matrix.shape[1]), rows, take_rows(X, fit_on))
        return Features(ordered(matrix, order), len(parts[0]), Unprepared(matrix.shape[1]), training=training)
    if isinstance(preprocessor, str) and not is_frame(X):
        # In the precision of the given rows, as in prediction: rounding before scaling would change the features.
        X = check_size(dense(X))
    fresh = _fresh(wanted)
    if type(fresh) in (TablePreparation, PlainNumbers):  # a subclass may want the frame
        X = as_table(X).shared()
    first = take_rows(X, fit_on)
    fitted, ids = _fitted(fresh, first, take_rows(marks, fit_on))
    stored = as_preparation(fitted)
    training = _training_inputs(stored, rows, first)
    if isinstance(X, Table):
        base = fitted.map_.transform(X, places=places_in(order))
    else:
        base = ordered(_finite(stored.transform(X)), order)
    if rows.emptied and is_our_own(preprocessor) and hasattr(rows.X, "drop_in_place"):
        for name in rows.X.columns:
            rows.X.drop_in_place(name)
    if stored.why_not_stored:
        stored = as_preparation(fitted, base.shape[1])
        warnings.warn(f"{stored.why_not_stored} Predictions work, but `save` will refuse this model.", stacklevel=5)
    return Features(base, len(parts[0]), stored, fitted, ids=ids, training=training)


def _fitted(fresh: Any, X: Any, marks: NDArray[np.float64]) -> tuple[Any, dict[str, Places]]:
    """The fitted transformer, and `Features.ids`: every gap is a value by itself."""
    fitted, ids = fresh.fit(X, marks), {}
    for note in as_preparation(fitted).notes:
        if note.code == "shared identifier":
            codes, values = as_table(X).cells(note.columns[0]).distinct()
            gaps = np.array([is_blank(value) for value in values])[codes]
            ids[note.columns[0]] = np.where(gaps, len(values) + np.arange(len(codes)), codes)
    return fitted, ids


def _training_inputs(preparation: Preparation, rows: LabelledRows, first: Any) -> TrainingInputs | None:
    """The range of every column in the rows that a preparation was fitted on."""
    if isinstance(preparation, TableMap):
        table = as_table(first)
        names = [column.name for column in preparation.columns]
        return TrainingInputs.of(names, (column.encoded(table)[0] for column in preparation.columns), table.n_rows)
    if isinstance(preparation, Foreign) or hasattr(first, "tocsr"):
        return None
    X = np.asarray(first)
    return TrainingInputs.of_array(rows.feature_names or [f"x{place}" for place in range(X.shape[1])], X)


def transformer_for(rows: LabelledRows, preprocessor: Any, fit_on: Places | None, *, scaled: bool) -> Any:
    """Resolve the preprocessors "auto" and "table"; any other is returned unchanged.

    Parameters
    ----------
    rows : LabelledRows
    preprocessor : transformer, str or None
    fit_on : array of indices or None
        Rows to fit it on, None for all; the cells of other rows have no influence.
    scaled : bool
        Whether numbers are scaled; with explicit widths, inputs are left unscaled.
    """
    if not (isinstance(preprocessor, str) and preprocessor in ("auto", "table")):
        return preprocessor
    if preprocessor == "table":
        return TablePreparation()
    if rows.is_frame:
        # A single cell, in any row, is enough to make a pandas column non-numeric.
        return PlainNumbers() if not scaled and _typed_numbers(take_rows(rows.X, fit_on)) else TablePreparation()
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers too large to be scaled, which are reported later
        perhaps = isinstance(rows.X, np.ndarray) and np.isnan(rows.X.sum())
    if perhaps and (gaps := np.isnan(rows.X).any(axis=1)).any():
        # Rows without missing values are mapped alike, even if a row outside the first part has a missing value.
        return TablePreparation() if scaled and take_rows(gaps, fit_on).any() else PlainNumbers(scaled=scaled)
    if not scaled:
        return None
    if isinstance(rows.X, np.ndarray) and has_far_cells(take_rows(rows.X, fit_on)):
        return PlainNumbers(scaled=True)
    from sklearn.preprocessing import StandardScaler

    return StandardScaler(with_mean=not hasattr(rows.X, "tocsr"))


def _fresh(preprocessor: Any) -> Any:
    """A fresh transformer to fit; "standardise" names the usual one."""
    check_preprocessor(preprocessor)
    if not isinstance(preprocessor, str):
        return clone(preprocessor)
    from sklearn.preprocessing import StandardScaler

    return StandardScaler()


def _finite(X: Any) -> NDArray[np.float32]:
    """Rows as a finite dense float32 matrix."""
    from sklearn.utils import check_array

    with np.errstate(over="ignore"):  # what becomes infinite is refused
        return dense(check_array(X, accept_sparse="csr", dtype=np.float32, ensure_min_features=1))


def _typed_numbers(frame: Any) -> bool:
    """Whether all columns of a frame have a numeric type, or are objects that are numbers or missing."""
    columns = list(as_table(frame).columns.values())
    return bool(columns) and all(map(_is_typed_number, columns))


def _is_typed_number(column: Any) -> bool:
    name = str(column.dtype).lower()
    if name != "object" or not hasattr(column, "isna"):
        return name.startswith(("int", "uint", "float"))
    return all(
        isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
        for value, gap in zip(column.to_list(), column.isna(), strict=True)
        if not gap
    )


def is_our_own(preprocessor: Any) -> bool:
    """Whether rows are prepared by a map of this library, which is tested to work row by row. A subclass may not.

    Examples
    --------
    >>> is_our_own("auto"), is_our_own(TablePreparation()), is_our_own(np.asarray)
    (True, True, False)
    """
    return type(preprocessor) in (type(None), str, TablePreparation, ThermometerCodes)


def allows_certificate(preprocessor: Any, transform: Callable[[Any], Any], X: Any) -> bool:
    """Whether a preprocessor allows a certificate; if not, a warning says why.

    It must be refitted on the first part of the rows, and work row by row. Otherwise the certificate would not be about
    the predictions of `predict`, and there is only an estimate.

    Parameters
    ----------
    preprocessor : transformer, str or None
        As passed to the classifier.
    transform : callable
        The fitted map from raw rows to inputs of the network.
    X : array, sparse matrix or frame
        Raw rows.

    Examples
    --------
    >>> allows_certificate(None, np.asarray, np.eye(3))
    True
    """
    if is_our_own(preprocessor):
        return True
    from abnet.tables.unseen import UnseenWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)  # the fit has told of them
        reason = fits_anew(preprocessor) or check_row_by_row(transform, X)
    if reason:
        warnings.warn(
            f"There is no certificate, only an estimate: the preprocessor does not allow one, because {reason}. It "
            "must be refitted on the first part of the rows, and transform each row independently of the others.",
            stacklevel=3,
        )
    return reason is None
