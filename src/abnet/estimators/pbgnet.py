"""`PBGNetClassifier`: the mean-field aggregation of Letarte et al. (2019), the paper's counterpart."""

from typing import ClassVar

from abnet.aggregation import meanfield
from abnet.estimators.aggregated import AggregatedClassifier, Family, Way
from abnet.predictors.mean_field_network import MeanFieldNetwork, SampledMeanField

__all__ = ["PBGNetClassifier"]


class PBGNetClassifier(AggregatedClassifier):
    """PBGNet: like `ABNetClassifier`, but every neuron reads its own draw of the layer below.

    With one hidden layer it is the same model. With more, the KL counts a layer once for every path from it to the
    output. Parameters, attributes and methods are those of `ABNetClassifier`, but for one:

    Parameters
    ----------
    aggregation : {"exact", "sampled"}
        How the output is computed. "exact": all representations, up to 20 units a layer. "sampled": from `n_samples`
        draws of every layer, whose bound is an estimate (its name was "uniform" in version 0.1).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = PBGNetClassifier((4,), preprocessor=StandardScaler(), max_iter=20, random_state=0).fit(X, y)
    >>> clf.certificate_.gibbs_risk_bound < 0.25
    True
    """

    _family: ClassVar[Family] = Family(
        ways={
            "exact": Way("meanfield", lambda network, rng, n: MeanFieldNetwork.from_network(network)),
            "sampled": Way(
                "stochastic_meanfield",
                lambda network, rng, n: SampledMeanField.from_network(network, rng, n_samples=n),
                certified=False,
            ),
        },
        kl=meanfield.kl,
        mean_field=True,
        renamed={"uniform": "sampled"},
    )
