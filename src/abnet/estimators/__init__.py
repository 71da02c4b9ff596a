"""scikit-learn classifiers: check input, call training, hold results.

`classifier` has what all of them share: checks, labels, prediction through one predictor. A certified fit reads from
top to bottom in `aggregated` (parts, preparation, learning, certificate); `abnet` and `pbgnet` say what differs between
the two models, and `certification` which theorem applies. The comparison methods are in `baseline_classifiers`, the
choice by certificates in `search`.

What a fitted classifier tells about its rows is public: ``bound_rows_`` are the rows of X that its certificate was
computed on, ``other_rows_`` the rest, ``preprocessor_`` the transformer that was fitted on the rest alone.

>>> import numpy as np
>>> from abnet import ABNetClassifier
>>> X = np.random.default_rng(0).normal(size=(80, 2))
>>> clf = ABNetClassifier((2,), max_iter=2, preprocessor="standardise", random_state=0).fit(X, X[:, 0] > 0)
>>> len(clf.bound_rows_), len(clf.other_rows_), clf.certificate_.facts.n_rows
(40, 40, 40)
>>> bool(np.allclose(clf.preprocessor_.mean_, X[clf.other_rows_].mean(axis=0)))
True
"""
