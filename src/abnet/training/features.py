"""`Features`: rows prepared for a network, by a preparation fitted on the first part."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from abnet.certificates.row_by_row import check_row_by_row, refit_problem
from abnet.tables.cells import is_blank
from abnet.tables.notes import Note
from abnet.tables.preparation import CodedMap, Preparation, as_preparation
from abnet.tables.preparation.array_checks import check_preprocessor, check_size, hint_at_scales
from abnet.tables.preparation.foreign import Foreign
from abnet.tables.preparation.plain_numbers import PlainNumbers
from abnet.tables.preparation.preparation import Unprepared
from abnet.tables.preparation.scalers import StandardMap
from abnet.tables.preparation.table_map import TableMap
from abnet.tables.preparation.table_preparation import TablePreparation
from abnet.tables.preparation.thermometer_codes import ThermometerCodes
from abnet.tables.preparation.training_inputs import TrainingInputs
from abnet.tables.table import Table, as_table
from abnet.training.choose_preprocessor import choose_preprocessor
from abnet.training.labelled_rows import LabelledRows
from abnet.utils.caller_rows import is_frame, take_rows
from abnet.utils.coded_rows import CodedRows, dense
from abnet.utils.permutation import ordered, places_in

__all__ = ["Features", "allows_certificate", "is_our_own", "prepare"]

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
    sparse : bool
        Whether the rows were given as a sparse matrix.
    chosen_columns : tuple of int or None
        Number of columns that were chosen, and of all, if some were left out because they do not help to predict.
    """

    base: NDArray[np.float32]
    n_first: int
    stored: Preparation
    transformer: Any = None
    coded: CodedMap | None = None
    ids: Mapping[str, Places] = field(default_factory=dict)
    training: TrainingInputs | None = None
    sparse: bool = False
    chosen_columns: tuple[int, int] | None = None

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
        if self.coded is None:
            return self.base[rows]
        return self.coded.with_codes(self.base[rows])

    @property
    def preparation(self) -> Preparation:
        """The preparation of the model, with codes if there are any."""
        if self.coded is None:
            return self.stored
        return self.coded

    @property
    def name(self) -> str | None:
        """Name of the preparation: the value of the parameter `preprocessor`, or the name of its class."""
        from sklearn.preprocessing import StandardScaler

        known = {TablePreparation: "table", PlainNumbers: "auto", StandardScaler: "standardise", type(None): None}
        return known.get(type(self.transformer), type(self.transformer).__name__)

    @property
    def cells(self) -> Places:
        """The input column that each prepared feature comes from."""
        if self.stored.owners is None:
            return np.arange(self.base.shape[1])
        return np.array(self.stored.owners)

    def with_notes(self, notes: tuple[Note, ...]) -> "Features":
        """The features with other notes about the columns of the table."""
        stored = msgspec.structs.replace(self.stored, notes=notes)
        if getattr(self.transformer, "map_", None) is self.stored:  # unless columns were left out since
            self.transformer.map_ = stored
        if self.coded is None:
            return replace(self, stored=stored)
        return replace(self, stored=stored, coded=msgspec.structs.replace(self.coded, base=stored))

    def code_map(self) -> CodedMap | None:
        """Codes with thresholds fitted on the first part; None for a preparation that cannot be stored."""
        preparation = self.stored
        if isinstance(preparation, Unprepared):  # codes are stored with a map, here one that changes nothing
            n_features = self.base.shape[1]
            preparation = StandardMap((0.0,) * n_features, (1.0,) * n_features)
        if preparation.why_not_stored:
            return None
        return CodedMap.of(preparation, self.first)


def prepare(
    rows: LabelledRows,
    preprocessor: Any,
    label_values: NDArray[np.float64],
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
    label_values : array (n,)
        Labels as numbers.
    parts : two arrays of indices
        The first part, and the other rows.
    fit_on : array of indices or None
        Rows to fit it on; None for all.
    scaled : bool
        Whether "auto" scales numbers.
    """
    X = rows.X
    order = np.concatenate(parts)
    n_first = len(parts[0])
    chosen = choose_preprocessor(rows, preprocessor, fit_on, scaled=scaled)
    if chosen is None:
        matrix = _finite(X)
        hint_at_scales(matrix)
        unprepared = Unprepared(matrix.shape[1])
        training = _training_inputs(unprepared, rows, take_rows(X, fit_on))
        return Features(ordered(matrix, order), n_first, unprepared, training=training)
    if isinstance(preprocessor, str) and not is_frame(X):
        # In the precision of the given rows, as in prediction: rounding before scaling would change the features.
        X = check_size(dense(X))
    unfitted = _unfitted(chosen)
    if type(unfitted) in (TablePreparation, PlainNumbers):  # a subclass may want the frame
        X = as_table(X).shared()
    first = take_rows(X, fit_on)
    fitted = unfitted.fit(first, take_rows(label_values, fit_on))
    stored = as_preparation(fitted)
    ids = _shared_identifiers(stored, first)
    training = _training_inputs(stored, rows, first)
    sparse = hasattr(rows.X, "tocsr")
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
    return Features(base, n_first, stored, fitted, ids=ids, training=training, sparse=sparse)


def _shared_identifiers(preparation: Preparation, X: Any) -> dict[str, Places]:
    """`Features.ids`: the number of each row's value; every missing value is a value of its own."""
    ids = {}
    for note in preparation.notes:
        if note.code != "shared identifier":
            continue
        name = note.columns[0]
        numbers, values = as_table(X).cells(name).distinct()
        is_missing = np.array([is_blank(value) for value in values])[numbers]
        ids[name] = np.where(is_missing, len(values) + np.arange(len(numbers)), numbers)
    return ids


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


def _unfitted(preprocessor: Any) -> Any:
    """An unfitted transformer; "standardise" names the usual one."""
    check_preprocessor(preprocessor)
    if not isinstance(preprocessor, str):
        return clone(preprocessor)
    from sklearn.preprocessing import StandardScaler

    return StandardScaler()


def _finite(X: Any) -> NDArray[np.float32]:
    """Rows as a finite dense float32 matrix."""
    from sklearn.utils import check_array

    with np.errstate(over="ignore"):  # infinite values are rejected
        return dense(check_array(X, accept_sparse="csr", dtype=np.float32, ensure_min_features=1))


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
        warnings.simplefilter("ignore", UnseenWarning)  # `prepare` warned of them
        reason = refit_problem(preprocessor) or check_row_by_row(transform, X)
    if reason:
        warnings.warn(
            f"There is no certificate, only an estimate: the preprocessor does not allow one, because {reason}. It "
            "must be refitted on the first part of the rows, and transform each row independently of the others.",
            stacklevel=3,
        )
    return reason is None
