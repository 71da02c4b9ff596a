"""`inspect_file`: the contents of a model file, or of a separately saved certificate."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from abnet.certificates.certificate import Certificate, NamedFile, load_certificate
from abnet.certificates.certificate_file import kind_of_record
from abnet.certificates.estimate import Estimate
from abnet.model.card import Card
from abnet.model.digest import model_digest
from abnet.model.file import check_promise, load
from abnet.model.model import Model
from abnet.model.predictors.kinds import kind_of
from abnet.tables.preparation import preparation_to_dict
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.wording import number_of

__all__ = ["InspectedFile", "inspect_file"]


@dataclass(frozen=True)
class InspectedFile:
    """Contents of a file; the bounds of its certificate were recomputed from its counts.

    Attributes
    ----------
    path : str
    size : int
        Bytes of the file.
    kind : {"model", "certificate", "estimate"}
    model : Model or None
    certificate : Certificate, Estimate or None
        The certificate of the model, or the one in the file.
    columns : tuple of (str, str)
        Each column that the model uses, and how it is read, as text.
    column_notes : tuple of str
        Remarks about the columns.
    notes : tuple of str
    """

    path: str
    size: int
    kind: Literal["model", "certificate", "estimate"]
    model: Model | None
    certificate: Certificate | Estimate | None
    columns: tuple[tuple[str, str], ...] = ()
    column_notes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def promise(self, *, details: bool = False) -> str:
        """The certificate as text, or why there is none."""
        if self.certificate is None:
            return "This file has no certificate: no theorem covers the way the model was trained."
        if isinstance(self.certificate, Estimate):
            return self.certificate.describe()
        return self.certificate.describe(details=details)

    def facts(self) -> dict[str, str]:
        """Main facts about a model, each as a short text; empty for a certificate."""
        if self.model is None:
            return {}
        return _facts(self.model)

    def column_lines(self) -> list[str]:
        """The columns as text; columns that are read in the same way share a line."""
        names_by_text: dict[str, list[str]] = {}
        for name, text in self.columns:
            names_by_text.setdefault(text, []).append(name)
        lines = []
        for text, names in names_by_text.items():
            if len(names) == 1:
                lines.append(f"{names[0]}: {text}")
            else:
                lines.append(f"{len(names)} columns, {text} each: {', '.join(names)}")
        return [*lines, *self.column_notes]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: everything but the numbers in the arrays."""
        certificate = None
        if self.certificate is not None:
            certificate = self.certificate.to_dict()
        if self.model is None:
            return certificate or {}
        model = self.model
        return {
            "path": self.path,
            "bytes": self.size,
            "kind": kind_of(model.predictor),
            "n_inputs": model.n_inputs,
            "arrays": {name: list(array.shape) for name, array in model.predictor.arrays().items()},
            "classes": model.classes_.tolist(),
            "feature_names": model.feature_names,
            "columns": model.preparation.describe(model.feature_names or ()),
            "preparation": preparation_to_dict(model.preparation),
            "certificate": certificate,
            "card": model.card.to_dict(),
            "digest": model_digest(model),
        }


def inspect_file(path: str | os.PathLike[str], *, model: str | os.PathLike[str] | None = None) -> InspectedFile:
    """Read and check a model file, or a certificate or estimate in JSON, and return its contents.

    Parameters
    ----------
    path : path
    model : path, optional
        For a certificate in a file of its own: the model file that it should be about.

    Raises
    ------
    ValueError
        If the file is damaged, or of another kind, or if the certificate is not about this model.
    """
    kind = kind_of_record(path)
    name = os.fspath(path)
    size = Path(path).stat().st_size
    if kind == "estimate":
        return InspectedFile(name, size, kind, model=None, certificate=Estimate.load(path))
    if kind == "certificate":
        certificate = load_certificate(path)
        notes = (*_unchecked(certificate), _about(path, certificate, model))
        return InspectedFile(name, size, kind, model=None, certificate=certificate, notes=notes)
    if model is not None:
        raise ParameterError("{} is for a certificate in a file of its own; {} is none.", Parameter("model"), path)
    loaded = load(path)
    notes = ()
    if loaded.certificate is not None:
        notes = _unchecked(loaded.certificate)
    return InspectedFile(
        name,
        size,
        kind="model",
        model=loaded,
        certificate=loaded.certificate,
        columns=tuple(loaded.preparation.column_words(loaded.feature_names or ())),
        column_notes=tuple(loaded.preparation.remarks()),
        notes=notes,
    )


def _about(path: str | os.PathLike[str], certificate: Certificate, model: str | os.PathLike[str] | None) -> str:
    """A note about the model of a certificate; raises a ValueError if it is not the given one."""
    if certificate.files:
        return _about_files(path, certificate, model)
    if certificate.model is None:
        if model is not None:
            raise ValueError(f"{path} does not name its model, so it is not known whether it is about {model}.")
        return "the certificate does not name its model"
    if model is None:
        return f"the certificate is about the model {certificate.model}; compare it with a file by --model"
    try:
        check_promise(load(model), certificate)
    except ValueError as error:
        raise ValueError(f"{path} does not belong to {model}: {error}") from error
    return f"the certificate is about {model}"


def _about_files(path: str | os.PathLike[str], certificate: Certificate, model: str | os.PathLike[str] | None) -> str:
    """A note about the files of a model of another library; raises a ValueError if the given one is none of them."""
    named = " and ".join(f"{file.name} (SHA-256 {file.sha256})" for file in certificate.files)
    if model is None:
        return f"the certificate is about the model in {named}; compare it with a file by --model"
    if NamedFile.of(model).sha256 not in {file.sha256 for file in certificate.files}:
        raise ValueError(f"{path} does not belong to {model}: it is about {named}.")
    return f"the certificate is about {model}"


def _unchecked(certificate: Certificate) -> tuple[str, ...]:
    """A note about statements that could not be recomputed: betting needs the loss of every single row."""
    left = [about for about, how in certificate.check().items() if how == "attainable"]
    if not left:
        return ()
    return (
        f"checked, but not recomputed: {', '.join(left)}. Such a bound follows from the loss of every single row, and "
        "the file keeps only their number and mean; these allow the stated value",
    )


def _facts(model: Model) -> dict[str, str]:
    card = model.card
    separator = ", "
    if model.n_classes == 2:
        separator = " or "
    seed = None
    if card.seed is not None:
        seed = str(card.seed)
    facts = {
        "classes": separator.join(model.labels.names),
        "target": card.target,
        "groups": card.group,
        "time": _split_by_time(card),
        "rows": _rows(card),
        "recipe": card.recipe,
        "network": _network(model),
        "decision": _decision(model),
        "made by": _made_by(card),
        "command": card.command,
        "digest": model_digest(model),
        "settings": ", ".join(f"{name}={value}" for name, value in (card.settings or {}).items()),
        "seed": seed,
        "kept rows": _kept_rows(card),
        "fingerprint": card.data_fingerprint,
    }
    return {name: text for name, text in facts.items() if text}


def _made_by(card: Card) -> str:
    parts = []
    if card.estimator:
        parts.append(card.estimator)
    if card.version:
        parts.append(f"of abnet {card.version}")
    return " ".join(parts)


def _kept_rows(card: Card) -> str:
    if not card.background:
        return ""
    return f"{number_of(len(card.background), 'training row')}, for explanations"


def _rows(card: Card) -> str:
    if card.n_training_rows is None:
        return ""
    text = f"{card.n_training_rows:,} given to fit"
    if card.n_training_groups:
        text += f" in {number_of(card.n_training_groups, 'group')}"
    if card.n_counted_rows:
        text += f"; {number_of(card.n_counted_rows, 'further held-out row')}"
    if card.n_unlabelled_rows:
        text += f"; {number_of(card.n_unlabelled_rows, 'row')} without a label left out"
    return text


def _split_by_time(card: Card) -> str:
    if card.period is None:
        return ""
    text = f"trained on the past, certified on rows {card.period}"
    if card.time is not None:
        text += f"; column {card.time}, which is no feature"
    return text


def _network(model: Model) -> str:
    card = model.card
    parts = [f"{kind_of(model.predictor)}, {number_of(model.n_inputs, 'input')}"]
    if card.sizes:
        parts.append("-".join(map(str, card.sizes)))
    ways = {
        "aggregation": card.aggregation,
        "objective": card.objective,
        "prior": card.prior,
        "posterior": card.posterior,
    }
    way = ", ".join(f"{name} {value}" for name, value in ways.items() if value)
    if way:
        parts.append(way)
    arrays = model.predictor.arrays()
    shapes = ", ".join(f"{name} {' x '.join(map(str, array.shape))}" for name, array in arrays.items())
    parts.append(f"arrays {shapes}")
    return "; ".join(parts)


def _decision(model: Model) -> str:
    decision = model.decision
    if decision.costs is not None:
        return decision.sentence(model.labels.names)
    if decision.kind == "abstain":
        if (decision.threshold or 0.0) < 0.0:
            return "every row is answered"
        return f"no answer unless the model is surer than {decision.threshold:g}"
    if decision.kind == "cut":
        names = model.labels.names
        return f"{names[int(decision.positive or 0)]} where its score exceeds {decision.threshold:g}"
    return ""
