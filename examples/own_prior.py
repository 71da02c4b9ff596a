"""Your own prior: any network that is fixed before the bound rows are seen, trained by any method.

The digits of scikit-learn are split by hand. Three linear classifiers are fitted on the first part and become the
hidden units of the prior network. The second part trains the posterior, starting from that prior, and certifies it.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from abnet import BAM, ABNetClassifier

X, digits = load_digits(return_X_y=True)
X = X / 16
y = np.where(digits % 2 == 0, "even", "odd")
first = np.random.default_rng(0).random(len(y)) < 0.5

rules = [LogisticRegression(C=C, max_iter=2000).fit(X[first], y[first]) for C in (0.3, 1.0, 3.0)]
W = np.concatenate([rule.coef_ for rule in rules]) * 4
b = np.concatenate([rule.intercept_ for rule in rules]) * 4
prior = BAM((W, np.full((1, 3), 3.0)), (b, np.zeros(1)))  # three rules, and their majority

common = {"preprocessor": None, "max_iter": 30, "random_state": 0}
for name, start in (("random start", "init"), ("three rules", prior)):
    clf = ABNetClassifier((3,), prior=start, **common).fit(X[~first], y[~first])
    print(f"{name}: KL {clf.kl_:.0f}, C {clf.C_:.1f}, bound on the Gibbs risk {clf.certificate_.gibbs_risk_bound:.2f}")
