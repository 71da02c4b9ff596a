"""Scoring and certifying in parts: the same as at once, on a cluster too, also when a worker is killed."""

import logging
import os
import signal
import threading
import time
import warnings
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import abnet
from abnet.certificates.decision import Decision
from abnet.certificates.evidence import observe
from abnet.certificates.fitted_rows import row_filter
from abnet.certificates.from_evidence import certify
from abnet.certificates.terms import Terms
from abnet.model.card import Card
from abnet.model.digest import model_digest
from abnet.model.distributed_scoring import certify_frame, certify_parts, partition_evidence, score_frame
from abnet.model.model import Model
from abnet.utils.errors import TrainingRowsError
from abnet.utils.label_values import label_values
from broken_promise import breaks
from export import models

distributed = pytest.importorskip("distributed", reason="needs abnet[dask]")
dd = pytest.importorskip("dask.dataframe", reason="needs abnet[dask]")


def rows(model: Model, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 3))
    return X, np.where(rng.random(n) < 0.8, model.predict(X), rng.choice(model.classes_, n))


@pytest.mark.parametrize("kind", ["compact", "mixture", "classes"])
def test_parts_add_up_to_the_certificate_of_all_rows(kind: str) -> None:
    model = models.model(kind, 3)
    X, y = rows(model)
    cuts = [0, 10, 10, 150, 400]
    parts = [partition_evidence(model, X[a:b], y[a:b]) for a, b in pairwise(cuts)]
    found = certify_parts(model, parts, delta=0.05)
    codes = model.labels.encode(y)
    risks = 1 - model.vote_share(X)[np.arange(len(y)), codes]
    answers = model.labels.encode(model.predict(X))
    whole = certify(observe(answers, codes, model.labels.names, losses=risks), Terms(source="test set"))
    assert found.vote_error_bound == whole.vote_error_bound
    assert found.facts == whole.facts
    assert found.gibbs_risk_bound == pytest.approx(whole.gibbs_risk_bound, abs=1e-12)
    assert [part.vote_errors for part in found.per_class] == [part.vote_errors for part in whole.per_class]
    assert found.facts.classes == model.labels.names
    assert found.model == model_digest(model)


@pytest.mark.parametrize("kind", ["classes by paths", "paths", "drawn"])
def test_what_has_no_exact_shares_is_certified_by_its_errors(kind: str) -> None:
    model = models.model(kind, 3)
    X, y = rows(model)
    parts = [partition_evidence(model, X[a:b], y[a:b]) for a, b in pairwise([0, 10, 10, 150, 400])]
    found = certify_parts(model, parts, delta=0.05)
    whole: Any = abnet.certify(model, X, y, delta=0.05)
    errors = [sum(c.facts.class_errors) for c in (found, whole)]
    assert errors[0] == errors[1] == int((model.predict(X) != y).sum()) > 0
    assert found.vote_error_bound == whole.vote_error_bound
    by_name = [
        {name: part.vote_error_bound for name, part in zip(c.facts.classes, c.per_class, strict=True)}
        for c in (found, whole)
    ]
    assert by_name[0] == by_name[1]


@pytest.mark.parametrize("kind", ["compact", "mixture", "classes", "paths"])
def test_labels_that_are_not_known_are_errors(kind: str) -> None:
    model = models.model(kind, 3)
    X, known = rows(model)
    y = np.array(known, object)
    y[:7] = "another"
    parts = [partition_evidence(model, X[a:b], y[a:b]) for a, b in pairwise([0, 5, 150, 400])]
    found = certify_parts(model, parts)
    wrong = 7 + int((model.predict(X[7:]) != known[7:]).sum())
    assert (found.facts.n_rows, sum(found.facts.class_errors)) == (400, wrong)
    assert [(part.n_examples, part.vote_errors) for part in found.per_class][-1] == (7, 7)
    if kind != "paths":
        rest = certify_parts(model, parts[1:]).empirical_gibbs_risk
        assert (found.empirical_gibbs_risk or 0.0) >= (rest or 1.0) * 395 / 400


def test_no_partition_is_named() -> None:
    with pytest.raises(ValueError, match="partitions"):
        certify_parts(models.model("compact", 3), [])


def test_evidence_about_another_model_is_refused() -> None:
    model = models.model("compact", 3)
    other = replace(model, decision=Decision(kind="abstain", threshold=0.9))
    X, y = rows(model, 60)
    parts = [partition_evidence(model, X[:30], y[:30]), partition_evidence(model, X[30:], y[30:])]
    assert certify_parts(model, parts).model == model_digest(model)
    with pytest.raises(ValueError, match="model"):
        certify_parts(other, parts)
    with pytest.raises(ValueError, match="models"):
        certify_parts(model, [parts[0], partition_evidence(other, X[30:], y[30:])])


NAMES = ["a", "b", "c"]


def fitted_on(rows: np.ndarray, labels: np.ndarray, **card: Any) -> Model:
    """A model that was fitted on these rows, and remembers them."""
    model = models.model("compact", 3, feature_names=tuple(NAMES))
    marks = label_values(model.labels.encode(labels), model.n_classes)
    return replace(model, card=Card(row_filter=row_filter(model.prepare(rows), marks), **card))


@pytest.mark.parametrize("npartitions", [1, 3, 60], ids=["whole", "parts", "single rows"])
@pytest.mark.parametrize("turned", [False, True], ids=["as they were", "sorted"])
def test_rows_of_the_fit_are_refused(npartitions: int, turned: bool) -> None:
    X, y = rows(models.model("compact", 3), 60)
    model = fitted_on(X, y)
    frame = pd.DataFrame(X, columns=NAMES).assign(target=y)
    if turned:
        frame = frame.sort_values("a")[["target", "c", "a", "b"]]
    new = frame.assign(a=frame["a"] + 0.01)
    half = pd.concat([frame[:30], new[30:]])
    for given in (frame, frame[:10], half, frame.astype(dict.fromkeys(NAMES, "float32"))):
        with pytest.raises(TrainingRowsError):
            certify_frame(model, dd.from_pandas(given, npartitions=npartitions), "target")
    assert certify_frame(model, dd.from_pandas(new, npartitions=npartitions), "target").facts.n_rows == 60


def test_coin_tosses_are_certified_neither_by_training_rows_nor_with_an_empty_partition() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=NAMES)
    y = rng.integers(0, 2, 120)
    clf = abnet.EBPClassifier((2,), max_iter=1, random_state=0).fit(frame, y)
    tossed = frame.assign(target=y)
    for given in (tossed, tossed[::-1]):
        parts = dd.concat([dd.from_pandas(part, npartitions=1) for part in (given[:50], given[:0], given[50:])])
        with pytest.raises(TrainingRowsError):
            certify_frame(clf, parts, "target")


def test_groups_are_certified_as_on_one_machine() -> None:
    X, y = rows(models.model("compact", 3))
    model = replace(fitted_on(X + 0.01, y, n_training_groups=9, group="patient"))
    patient = np.random.default_rng(1).integers(0, 80, len(y))
    frame = pd.DataFrame(X, columns=NAMES).assign(patient=patient, target=y)
    found = [
        certify_frame(model, dd.from_pandas(part, npartitions=k), "target", group="patient", random_state=0)
        for part, k in ((frame, 1), (frame, 9), (frame.sample(frac=1, random_state=2), 9))
    ]
    whole: Any = abnet.certify(model, frame[[*NAMES, "patient"]], y, groups="patient", random_state=0)
    for made in found:
        assert made.vote_error_bound == found[0].vote_error_bound
        assert (made.facts.n_groups, made.facts.class_errors) == (whole.facts.n_groups, whole.facts.class_errors)
        assert made.per_class == ()
    assert found[0].vote_error_bound == pytest.approx(whole.vote_error_bound, abs=0.02)
    with pytest.raises(ValueError, match="group='patient'"):
        certify_frame(model, dd.from_pandas(frame, npartitions=3), "target")
    with pytest.warns(UserWarning, match="single rows"):
        certify_frame(model, dd.from_pandas(frame.drop(columns="patient"), npartitions=3), "target")
    lost = frame.assign(patient=np.where(patient == 3, np.nan, patient))
    with pytest.raises(ValueError, match="groups"):
        certify_frame(model, dd.from_pandas(lost, npartitions=3), "target", group="patient")
    parts = [
        partition_evidence(model, X[a:b], y[a:b], groups=patient[a:b].astype(kind))
        for a, b, kind in ((0, 9, str), (9, 9, int), (9, 400, int))
    ]
    with pytest.raises(ValueError, match=r"text.*numbers"):
        certify_parts(model, parts)


@pytest.mark.parametrize("sort", [False, True])
def test_the_bound_for_a_new_group_holds(sort: bool) -> None:
    """Groups differ in their error rate; a bound that counts rows fails far too often, the one of groups does not."""
    model = models.model("compact", 3)
    rng = np.random.default_rng(7)
    runs = 200
    delta = 0.1
    true = 0.3
    by_rows = by_groups = 0
    for _ in range(runs):
        patient = np.repeat(np.arange(25), 8)
        wrong = rng.random(len(patient)) < np.repeat(np.where(rng.random(25) < true, 0.9, 0.3 / 7), 8)
        X = rng.normal(size=(len(patient), 3))
        answers = model.labels.encode(model.predict(X))
        y = model.labels.decode(np.where(wrong, 1 - answers, answers))
        if sort:
            order = np.argsort(wrong, kind="stable")
        else:
            order = rng.permutation(len(wrong))
        parts = [partition_evidence(model, X[rows], y[rows], groups=patient[rows]) for rows in np.array_split(order, 4)]
        rate = true * 0.9 + (1 - true) * 0.3 / 7
        by_groups += (certify_parts(model, parts, delta=delta, random_state=0).vote_error_bound or 0.0) < rate
        single = [replace(part, evidence=replace(part.evidence, groups=None)) for part in parts]
        by_rows += (certify_parts(model, single, delta=delta).vote_error_bound or 0.0) < rate
    assert breaks(by_rows, runs, delta)
    assert not breaks(by_groups, runs, delta)


def test_a_row_without_a_label_is_refused() -> None:
    model = models.model("compact", 3)
    X, y = rows(model, 5)
    with pytest.raises(ValueError, match="label"):
        partition_evidence(model, X, [*y[:4], None])


def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    model = models.model("mixture", 3, feature_names=tuple(names))
    X, y = rows(model)
    frame = pd.DataFrame(X, columns=names).assign(target=y)
    marks = tmp_path / "marks"
    marks.mkdir()

    def load(number: int) -> Any:
        if number == 2 and not any(marks.iterdir()):
            (marks / str(os.getpid())).touch()
            time.sleep(600)
        return frame[number::4]

    def kill_the_worker_that_hangs() -> None:
        while not (hanging := list(marks.iterdir())):
            time.sleep(0.01)
        os.kill(int(hanging[0].name), signal.SIGKILL)

    options = {"processes": True, "host": "127.0.0.1", "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    threading.Thread(target=kill_the_worker_that_hangs, daemon=True).start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the cluster, about a worker that is gone
        with (
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
            distributed.Client(cluster),
        ):
            parted = dd.from_map(load, range(4), meta=frame.iloc[:0])
            certificate = certify_frame(model, parted, "target")
            scored = score_frame(model, parted[names]).compute().sort_index()
    killed = int(next(iter(marks.iterdir())).name)
    assert killed != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(killed, 0)
    assert certificate.facts.n_rows == len(frame)
    assert sum(certificate.facts.class_errors) == int((model.predict(X) != y).sum())
    assert scored["label"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(scored.to_numpy()[:, 1:].astype(float), model.predict_proba(X), atol=1e-12)


def test_labels_of_a_cluster_are_the_decisions() -> None:
    threshold = 0.05
    for decision in (Decision(kind="abstain", threshold=threshold), Decision(kind="cut", threshold=0.2, positive=0)):
        model = replace(models.model("mixture", 3, feature_names=("a", "b", "c")), decision=decision)
        frame = pd.DataFrame(rows(model)[0], columns=list("abc"))
        found = score_frame(model, dd.from_pandas(frame, npartitions=3)).compute()
        expected = model.predict(frame).tolist()
        assert [None if pd.isna(label) else label for label in found["label"]] == expected
        assert len(set(expected)) == (3 if decision.kind == "abstain" else 2)


def test_refused_rows_are_skipped_and_listed() -> None:
    model = models.model("classes", 3, feature_names=("a", "b", "c"))
    frame = pd.DataFrame(rows(model, 50)[0], columns=list("abc"))
    expected = model.predict(frame)
    broken = [0, 7, 8, 49]
    frame.loc[broken, "b"] = np.nan
    parts = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(ValueError, match="NaN"):
        score_frame(model, parts).compute()
    found = score_frame(model, parts, on_error="skip").compute()
    assert found.index.tolist() == frame.index.tolist()
    assert found.index[found["refused"] != ""].tolist() == broken
    assert found["label"].isna().to_numpy().nonzero()[0].tolist() == broken
    assert found.filter(like="probability").isna().all(axis=1).to_numpy().nonzero()[0].tolist() == broken
    kept = found["refused"] == ""
    assert found["label"][kept].tolist() == expected[kept.to_numpy()].tolist()
    assert "NaN" in found["refused"][7]
    with pytest.raises(ValueError, match="on_error"):
        score_frame(model, parts, on_error="ignore")  # type: ignore[arg-type]
