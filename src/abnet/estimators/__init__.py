"""scikit-learn classifiers: check the input, resolve the settings, call `fit`, store the results.

`abnet.estimators.fit` is a certified fit from start to end, as a pure function. The classifiers that call it are in
`certified` and `abnet`; the methods of fitted classifiers are in `prediction` and `certificate_mixin`. The search by
certificates is in `search`, the comparison with common models in `compare`, and the blocks in which held-out rows are
observed in `held_out_blocks`.

A fitted classifier shows which rows it used: ``bound_rows_`` are the indices of the rows of X that certify it,
``other_rows_`` the indices of the other rows, and ``preprocessor_`` is the transformer fitted on the other rows only.

>>> import numpy as np
>>> from abnet import ABNetClassifier
>>> X = np.random.default_rng(0).normal(size=(80, 2))
>>> clf = ABNetClassifier((2,), max_iter=2, preprocessor="standardise", random_state=0).fit(X, X[:, 0] > 0)
>>> len(clf.bound_rows_), len(clf.other_rows_), clf.certificate_.facts.n_rows
(40, 40, 40)
>>> bool(np.allclose(clf.preprocessor_.mean_, X[clf.other_rows_].mean(axis=0)))
True
"""
