"""scikit-learn classifiers: check input, resolve settings, call `fit`, hold results.

`abnet.estimators.fit` is a certified fit from top to bottom, as a function of values. `certified` and `abnet` have the
two kinds of classifiers that call it, `prediction` and `certificate_mixin` what they do once they are fitted. The
comparison methods are in `baseline_classifiers`, the choice by certificates in `search`, tables larger than memory in
`large_tables`.

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
