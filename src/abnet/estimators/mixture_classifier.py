"""Mixtures of networks as a classifier: several classes, teachers, codes, and nothing to set."""

import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from abnet.aggregation import Exact
from abnet.bam import BAM
from abnet.certificates.certify import Terms, certify
from abnet.certificates.decision import decided
from abnet.certificates.fingerprint import background_rows, fingerprint, warn_of_copies
from abnet.certificates.fitted_rows import MOST_ROWS, row_filter
from abnet.decisions.row_by_row import fits_anew
from abnet.errors import Parameter, ParameterError
from abnet.estimators import mixture_fit
from abnet.estimators.aggregated import AggregatedClassifier
from abnet.estimators.certification import (
    Losses,
    Streams,
    estimated_bound,
    one_thread,
    warn_of_no_certificate,
    without_groups,
)
from abnet.estimators.classifier import allows_certificate, take_rows, training_bar
from abnet.estimators.drawn_network import draw_network
from abnet.estimators.judging import decide_after_fit
from abnet.estimators.recipe import Recipe, fit_record, recipe_for, warn_of_unfinished
from abnet.estimators.refit import fitting_anew
from abnet.labels import Labels, signs_of, with_unknown
from abnet.model.card import Card
from abnet.model.model import Model
from abnet.parameters import check_choice, check_hidden, check_positive
from abnet.posterior import Posterior
from abnet.predictors.predictor import Predictor
from abnet.preparation.transformers import as_frame
from abnet.threads import cores
from abnet.training.teachers import TEACHERS

if TYPE_CHECKING:
    from abnet.tables.reading import Learning

__all__ = ["MixtureClassifier", "fit_and_hold"]


class MixtureClassifier(AggregatedClassifier):
    """An aggregation that may be a mixture; parameters as in `CertifiedClassifier` and `ABNetClassifier`."""

    _several: ClassVar[bool] = True
    n_estimators: Any
    teacher: Any
    codes: str
    code_length: Any
    classes: Any
    class_weight: Any
    decision: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Learn from labelled rows.

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
        y : array (n,)
            Labels of any type, two classes or more.
        sample_weight : array (n,), optional
            Shapes training; a certificate stays one for the unweighted risk. A weight may depend on its own row only.
        groups : array (n,) or str, optional
            Which rows belong together, such as those of one patient, or the column of a frame that says so and is no
            feature then. Whole groups learn or certify, and the certificate is about a new group.

        Returns
        -------
        self
        """
        with fitting_anew(self):
            X, groups = without_groups(as_frame(X), groups)
            if groups is not None and self.decision is not None:
                raise ParameterError("{} counts rows, and cannot be had with groups.", Parameter("decision"))
            # By types alone: were it for its cells, one bound row with a gap would decide how all rows are prepared.
            self._reads_frames = hasattr(X, "columns")
            super().fit(X, y, sample_weight, groups)
            if self.decision is not None and self.certificate_ is not None:
                decide_after_fit(self, X, np.asarray(y), self.held_)
        return self

    def predict_or_abstain(self, X: Any) -> NDArray[Any]:
        """Labels, None for rows that the model is not sure enough of to keep the promise of ``abstention_``."""
        check_is_fitted(self, "model_")
        codes = decided(self.model_.card.decisions, "abstention", self.decision_function(X))
        return np.array([*self.classes_.tolist(), None], dtype=object)[codes]

    def predict_decided(self, X: Any) -> NDArray[Any]:
        """Labels by the threshold of ``decision_``; ValueError where the target could not be certified."""
        check_is_fitted(self, "model_")
        codes = decided(self.model_.card.decisions, "decision", self.decision_function(X))
        return self._labels.decode(codes)

    def vote_share(self, X: Any) -> NDArray[np.float64]:
        """Share of the networks that vote for each class, (n, K): what `predict_proba` calibrates."""
        return self.model_.shares_from_scores(self.decision_function(X))

    def _test_losses(self, prepared: Any, scores: NDArray[np.float64], codes: NDArray[np.intp]) -> Losses:
        """What one draw of the posterior loses on rows of a test set that have these scores."""
        if not hasattr(self, "networks_"):
            return super()._test_losses(prepared, scores, codes)
        rng, rows = np.random.default_rng(self._certify_seed), np.asarray(prepared, np.float32)
        with training_bar(self.verbose) as report:
            return mixture_fit.member_losses(
                self.model_.predictor, self.networks_, rows, scores, codes, rng, frozen=True, report=report
            )

    def _takes_tables(self) -> bool:
        if isinstance(self.preprocessor, str) and self.preprocessor == "auto":
            return bool(self.__dict__.get("_reads_frames", False))
        return super()._takes_tables() or (isinstance(self.preprocessor, str) and self.preprocessor == "table")

    def _preprocessor_for(self, X: Any) -> Any:
        if not (isinstance(self.preprocessor, str) and self.preprocessor in ("auto", "table")):
            return self.preprocessor
        if self._takes_tables():
            from abnet.preparation.transformers import PlainNumbers, TablePreparation

            # Who shapes the network shapes its inputs: numbers are left as they are.
            plain = self.preprocessor == "auto" and not self._is_auto("hidden_layer_sizes")
            # Of the first part: a column of pandas is of no type of numbers because of one cell, in whatever row.
            plain = plain and _typed_numbers(take_rows(X, self.other_rows_) if len(self.other_rows_) else X)
            return PlainNumbers() if plain else TablePreparation()
        if not self._is_auto("hidden_layer_sizes"):
            return None
        from sklearn.preprocessing import StandardScaler

        return StandardScaler(with_mean=not hasattr(X, "tocsr"))

    def _is_mixture(self, n_classes: int) -> bool:
        """Whether anything is asked for that one untaught network with one output is not."""
        alone = self.n_estimators == "auto" or self.n_estimators == 1
        untaught = self.teacher is None or (isinstance(self.teacher, str) and self.teacher == "auto")
        plain = alone and untaught and self.codes in ("auto", "none") and self.class_weight is None
        return self._is_auto("hidden_layer_sizes") or not plain or n_classes > 2

    def _check_parameters(self) -> tuple[int, ...]:
        if self.n_estimators != "auto":
            check_positive("n_estimators", self.n_estimators, whole=True)
        if self.code_length != "auto":
            check_positive("code_length", self.code_length, whole=True)
        check_choice("codes", self.codes, ("auto", "thermometer", "none"))
        if isinstance(self.teacher, str):
            check_choice("teacher", self.teacher, ("auto", "all", *TEACHERS))
        elif self.teacher is not None and not hasattr(self.teacher, "predict_proba"):
            name = Parameter("teacher")
            raise ParameterError("{} must be a classifier with predict_proba; got {!r}.", name, self.teacher)
        elif self.teacher is not None and (reason := fits_anew(self.teacher)):
            raise ParameterError("{} has to be fitted anew on the first part, but {}.", Parameter("teacher"), reason)
        if self.class_weight is not None and not isinstance(self.class_weight, Mapping):
            check_choice("class_weight", self.class_weight, ("balanced",))
        if not self._is_auto("hidden_layer_sizes"):
            return super()._check_parameters()
        given, self.hidden_layer_sizes = self.hidden_layer_sizes, (1,)
        try:
            super()._check_parameters()
        finally:
            self.hidden_layer_sizes = given
        return ()

    def _learn(self, X: Any, y: NDArray[np.float64], weights: NDArray[np.float64] | None) -> Model:
        self._check_parameters()
        streams = self._open_streams()
        self._split_rows(X, y)
        codes = self._known_codes(np.maximum(y, 0).astype(np.intp))
        self._check_class_weight()
        if self._is_mixture(len(self.classes_)) and self._mixture_allowed():
            return self._learn_mixture(X, codes, weights, streams)
        return self._learn_network(X, codes, weights, streams)

    def _known_codes(self, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Codes among the classes that the model is to know, K for any other; sets ``classes_``.

        The classes are the declared ones, or those of the first part: a label that bound rows alone have must not
        decide how many there are. Of two labels in all both are known, even if the first part has one of them only.
        """
        known = self._labels
        if self.classes is not None:
            known = Labels.of(self.classes)
        elif known.n_classes > 2 and self._has_split():
            present = np.unique(codes[self.other_rows_])
            if len(present) < 2:
                raise ValueError("the first part of the rows holds one class only: give more rows, or classes=.")
            known = Labels(self.classes_[present])
        codes = with_unknown(known.encode(self.classes_), known.n_classes)[0][codes]
        self.classes_ = known.classes
        unknown = codes == known.n_classes
        if unknown[self.other_rows_].any():
            raise ValueError(f"y holds labels that are not among classes: {', '.join(known.names)}.")
        mixture_fit.warn_of_unknown(int(np.sum(unknown)), known)
        return codes

    def _check_class_weight(self) -> None:
        """Refuse weights of classes that the model does not know: a misspelt name would leave its class at 1."""
        if not isinstance(self.class_weight, Mapping):
            return
        known = self.classes_.tolist()
        strange = [label for label in self.class_weight if label not in known]
        if strange:
            raise ParameterError(
                "{} has a weight for {!r}, which is not a class of the first part; the classes are {}.",
                Parameter("class_weight"), strange[0], ", ".join(map(repr, known)),
            )  # fmt: skip
        for label, weight in self.class_weight.items():
            if not isinstance(weight, Real) or not 0.0 <= float(weight) < np.inf:
                raise ParameterError(
                    "{} must be finite and not negative; the class {!r} has {!r}.",
                    Parameter("class_weight"), label, weight,
                )  # fmt: skip
        if not any(self.class_weight.get(label, 1.0) for label in known):
            raise ParameterError("{} leaves no class with a weight above 0.", Parameter("class_weight"))

    def _mixture_allowed(self) -> bool:
        """The paper's own objectives and sampling have one network; what else was asked for is refused."""
        self._check_parameters()
        if self._has_split() and self.aggregation != "uniform":
            return True
        if self._is_auto("hidden_layer_sizes") or len(self.classes_) > 2:
            raise ParameterError(
                "{}, {} and {} are for one network with two classes: give {}.",
                Parameter("prior", "init"), Parameter("objective", "loss"), Parameter("aggregation", "uniform"),
                Parameter("hidden_layer_sizes"),
            )  # fmt: skip
        raise ParameterError(
            "{}, {}, {} and {} need a prior learned on the first part, and exact or ancestral aggregation.",
            *(Parameter(name) for name in ("n_estimators", "teacher", "codes", "class_weight")),
        )

    def _learn_mixture(
        self, X: Any, codes: NDArray[np.intp], weights: NDArray[np.float64] | None, streams: Streams
    ) -> Model:
        K = len(self.classes_)
        first, bound = self.other_rows_, self.bound_rows_
        order = np.concatenate([first, bound])
        base, prepared = self._prepare(X, self._marked(codes), first, order)
        covered = base is None or allows_certificate(self.preprocessor, base.transform, X)
        ordered = codes[order]
        with ThreadPoolExecutor(1) as aside:  # neither can be shared out, so they go side by side
            name = aside.submit(fingerprint, prepared, ordered.astype(np.float64))
            if self._groups is None:
                warn_of_copies(prepared, ordered, self.classes_)
        learn, judge = prepared[: len(first)], prepared[len(first) :]
        if self.__dict__.get("_holds_rows"):
            self._hand_over(X, learn, judge)
        coded, recipe = self._coded(base, learn)
        from abnet.training.compilation import compilation_cache

        with compilation_cache(), training_bar(self.verbose) as report:
            members = mixture_fit.learn_prior_members(
                recipe, self, learn, coded, _cells(base, learn.shape[1]), codes[first],
                None if weights is None else weights[first], K, streams.train, report,
                None if self._groups is None else self._groups[first],
            )  # fmt: skip
            recipe, self.priors_, self.held_ = members.recipe, members.networks, members.held
            self.networks_ = self.priors_
            inputs = judge if coded is None else coded.rows(judge)
            groups = None if self._groups is None else self._groups[bound]
            draws = len(bound) if groups is None else len(np.unique(groups))
            self.bound_curve_: list[float] = []
            if not self._is_frozen() and not members.interrupted:
                known = np.minimum(codes[bound], K - 1)
                own = mixture_fit.bound_weights(self, None if weights is None else weights[bound], known, codes[first])
                self.networks_, self.bound_curve_ = mixture_fit.train_members(
                    recipe, self, self.priors_, inputs, known, K, streams.train, None, draws, own
                )
            scorer = mixture_fit.deploy(recipe, self.networks_, K, streams.deploy, self.n_samples)
            terms = replace(self._terms(), expected=None if self._is_frozen() else members.held.expected())
            self.certificate_, self.bound_estimate_ = None, None
            try:
                seen, terms = mixture_fit.observe_mixture(
                    scorer, self.networks_, self.priors_, inputs, codes[bound], streams.paths, terms,
                    self._labels.names, report=report, groups=groups,
                )  # fmt: skip
                if covered:
                    self.certificate_ = certify(seen, terms)
                else:
                    self.bound_estimate_ = estimated_bound(seen, terms)
            except KeyboardInterrupt:
                warn_of_no_certificate()
        self._keep(members, recipe)
        preparation = base if coded is None else coded
        model = self._mixture_model(scorer, recipe, members, preparation, prepared, ordered, name.result())
        self.drawn_network_ = _draw_member(
            self.networks_, self.priors_, inputs, codes[bound], model, streams.single,
            self._terms(), covered=covered and groups is None,
        )  # fmt: skip
        return model

    def _hand_over(self, frame: Any, learn: NDArray[np.float32], judge: NDArray[np.float32]) -> None:
        """Prepared rows of both parts in the place of a frame of Polars that was made for this fit alone.

        As text it takes several times their room, so it is emptied, unless thresholds are decided by its rows.
        """
        self._held_rows = learn, judge
        if self.decision is None:
            for name in frame.columns:
                frame.drop_in_place(name)

    def _coded(self, base: Any, learn: NDArray[np.float32]) -> tuple[Any, Recipe]:
        """The codes, if there are to be any, and the recipe."""
        from sklearn.preprocessing import StandardScaler

        from abnet.preparation.coded import CodedMap
        from abnet.preparation.scalers import StandardMap
        from abnet.preparation.transformers import PlainNumbers, TablePreparation

        n_features = learn.shape[1]
        map_ = base
        if base is None:
            map_ = StandardMap((0.0,) * n_features, (1.0,) * n_features)
        can = hasattr(map_, "n_features_out") and self.codes != "none"
        coded = CodedMap.of(map_, learn) if can else None
        hidden = None if self._is_auto("hidden_layer_sizes") else check_hidden(self.hidden_layer_sizes)
        n_codes = 0 if coded is None else coded.n_features_out - n_features
        known = {TablePreparation: "table", PlainNumbers: "auto", StandardScaler: "standardise", type(None): None}
        kind = type(self.preprocessor_)
        recipe = recipe_for(self, hidden, n_features, len(self.classes_), n_codes, known.get(kind, kind.__name__))
        if recipe.codes == "thermometer" and coded is None:
            raise ParameterError("{} needs a preprocessor that can be stored.", Parameter("codes", "thermometer"))
        return (coded if recipe.codes == "thermometer" else None), recipe

    def _keep(self, members: mixture_fit.Members, recipe: Recipe) -> None:
        self.network_, self.prior_ = self.networks_[0], self.priors_[0]
        self.aggregation_, self.recipe_ = recipe.aggregation, recipe.to_dict()
        self.loss_curve_ = members.curve
        self.n_iter_ = max(len(members.curve) - 1, 0) + max(len(self.bound_curve_) - 1, 0)
        taught = recipe if members.taught_by else replace(recipe, teacher=None)  # one class, or teachers interrupted
        self.recipe_text_ = taught.describe(members.taught_by)
        if not members.interrupted and members.taught_by:  # of two halves in one curve neither end can be told
            warn_of_unfinished({"networks, log loss": members.curve}, self.max_iter)
        if members.interrupted:
            warnings.warn(
                "Training was interrupted: the best networks so far are kept, and what is certified is their vote.",
                stacklevel=5,
            )

    def _mixture_model(
        self, scorer: Predictor, recipe: Recipe, members: mixture_fit.Members, preparation: Any,
        prepared: NDArray[np.float32], codes: NDArray[np.intp], name: str,
    ) -> Model:  # fmt: skip
        """The model with its card; rows and codes are in the order of use."""
        learned = self._n_learned(len(self.other_rows_), len(codes))
        some = prepared if learned <= MOST_ROWS else prepared[:MOST_ROWS]
        rows = some if not hasattr(preparation, "code") else preparation.code(some)
        marks = row_filter(rows, self._marked(codes)[: len(rows)], min(learned, len(rows)))
        card = Card(
            estimator=type(self).__name__,
            sizes=self.network_.sizes,
            recipe=self.recipe_text_,
            parameters=recipe.to_dict(),
            aggregation=recipe.aggregation,
            objective=self.objective,
            prior="split",
            posterior="frozen" if self._is_frozen() else "train",
            n_training_rows=len(codes),
            n_training_groups=None if self._groups is None else len(np.unique(self._groups)),
            seed=self.seed_,
            data_fingerprint=name,
            row_filter=marks,
            background=background_rows(prepared[: len(self.other_rows_)]),
            bound_estimate=None if self.bound_estimate_ is None else self.bound_estimate_.value,
            **fit_record(self, {_monitored(members): members.curve, "bound": self.bound_curve_}),
        )
        return Model(
            scorer, self._labels, preparation, self._feature_names(), members.calibration, self.certificate_, card=card
        )

    def _marked(self, codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Labels as the filter of fitted rows takes them: signs of two classes, codes of several."""
        return signs_of(codes) if len(self.classes_) == 2 else codes.astype(np.float64)


@one_thread
def _draw_member(
    networks: tuple[BAM, ...],
    priors: tuple[BAM, ...],
    X: Any,
    codes: NDArray[np.intp],
    model: Model,
    rng: np.random.Generator,
    terms: Terms,
    *,
    covered: bool,
) -> Model:
    """One network of the mixture: a member drawn at random, then a network around it; the ratio is the member's own."""
    posterior = Posterior.from_networks(networks, priors, Exact())
    words = mixture_fit.words_of(networks, model.n_classes)
    network, certificate = draw_network(posterior, X, codes, rng, model.labels, words, terms=terms, threads=cores())
    return replace(model, predictor=network, certificate=certificate if covered else None, calibration=None)


def _monitored(members: mixture_fit.Members) -> str:
    """What the curve of the members shows; an untaught mixture learns in two halves, as a single network does."""
    return "log loss" if members.taught_by is not None else "log loss, then linear loss"


def _cells(base: Any, n_features: int) -> NDArray[np.intp]:
    """Which column of the caller's every prepared feature comes from."""
    columns = getattr(base, "columns", None)
    if columns is None:
        return np.arange(n_features)
    counts = [len(column.features) for column in columns]
    return np.repeat(np.arange(len(counts)), counts) if sum(counts) == n_features else np.arange(n_features)


def _typed_numbers(frame: Any) -> bool:
    """Whether all columns of a frame are of a type of numbers, or of Python's objects that are numbers or gaps."""
    from abnet.tables.frames import as_table

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


def fit_and_hold(
    classifier: Any, part: "Learning", groups: NDArray[Any] | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
    """Fit a classifier to a part; its rows as they were prepared, first part and bound part, if it has them all.

    If it does, the frame of the part is empty afterwards.
    """
    classifier._holds_rows = True
    try:
        classifier.fit(part.X, part.y, **({} if groups is None else {"groups": groups}))
    finally:
        del classifier._holds_rows
        held: Any = classifier.__dict__.pop("_held_rows", None)
    return held
