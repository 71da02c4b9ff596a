"""MNIST with ten classes: a wide mixture from the 60,000 images of the training file, tested on the other 10,000.

    python benchmarks/ten_digits.py --features maps --output multiclass.csv

It takes minutes. Results that the file already holds are not computed again.

The model is trained on a first part of the training file, including shifted copies of its images. The other rows are
used only for the certificate. All settings (widths, rates, epochs, copies) were chosen on 5,000 images of the first
part.
"""

import argparse
import csv
import io
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.from_evidence import certify
from abnet.certificates.terms import Terms
from abnet.estimators.observing import observe_posterior
from abnet.estimators.posterior_losses import mean_risks
from abnet.model.deployment import deploy
from abnet.networks import Ancestral, Posterior
from abnet.networks.codebook import code_words
from abnet.networks.lifting import lift
from abnet.paper.data.datasets import mnist_digits
from abnet.training.compilation import compilation_cache
from abnet.training.learned import BoundRows
from abnet.training.members import learn_members
from abnet.training.mixture_plan import MixturePlan
from abnet.training.posterior_learner import PosteriorLearner
from abnet.training.progress_bar import training_bar
from abnet.training.seeds import generators_from
from abnet.utils.atomic import atomic_path
from images import deskew, oriented_gradients, shifted

N_LEARN = 60_000
"""Images of the training file, which come first."""


@dataclass(frozen=True)
class DigitsRecipe:
    """How a mixture for the ten digits is made.

    Attributes
    ----------
    features : str
        "raw" for pixels, "maps" for `deskew` followed by `oriented_gradients` (`images.py`).
    hidden : int
        Width of the one hidden layer.
    members : int
        Networks in the mixture.
    code_length : int
        Output neurons.
    paths : int
        Number of paths per member that are kept to vote.
    copies : int
        Copies of every training image, each shifted by at most a pixel.
    epochs : int
        Number of epochs on the log loss; half as many on the linear loss follow. Copies count as rows.
    batch_size, rate
        As in `abnet.training.mixture_plan.MixturePlan`.
    prior_fraction : float
        Fraction of the training file to train on.
    n_candidates : int
        Number of recipes that share the bound rows; any of them may be chosen after seeing all results.
    delta : float
    """

    features: str
    hidden: int
    members: int
    code_length: int = 12
    paths: int = 50
    copies: int = 0
    epochs: int = 10
    batch_size: int = 128
    rate: float = 0.1
    prior_fraction: float = 0.8
    n_candidates: int = 2
    delta: float = 0.05


RECIPES = {
    "raw": DigitsRecipe("raw", 500, 1, copies=3, epochs=5),
    "maps": DigitsRecipe("maps", 400, 2),
}
"""The recipes of the published table, by the features that they read."""


@dataclass(frozen=True)
class DigitsResult:
    """Results of one recipe: certificates from the bound rows, and errors on the test file."""

    recipe: DigitsRecipe
    gibbs_certificate: float
    vote_certificate: float
    test_error: float
    test_gibbs_risk: float
    bound_rows: int
    bound_vote_errors: int
    bound_gibbs_risk: float
    seconds: float


def features_of(images: NDArray[np.float32], features: str) -> NDArray[np.float32]:
    """Features of images (n, 784); nothing in either map is fitted to data."""
    if features not in ("raw", "maps"):
        raise ValueError(f"features must be 'raw' or 'maps'; got {features!r}.")
    if features == "raw":
        return images
    return oriented_gradients(deskew(images))


def measure_digits(
    recipe: DigitsRecipe,
    images: NDArray[np.float32],
    digits: NDArray[np.intp],
    *,
    n_learn: int = N_LEARN,
    random_state: int = 0,
    report: Callable[..., None] | None = None,
) -> DigitsResult:
    """Train on a part of the first `n_learn` images, certify on the rest of them, and test on the others.

    Parameters
    ----------
    recipe : DigitsRecipe
    images : array (n, 784)
        Ink in [0, 1].
    digits : array (n,)
        Classes, 0 to 9.
    n_learn : int
    random_state : int
    report : callable, optional
        Called after each epoch with a stage's name, the epoch, the number of epochs and the best loss.
    """
    begin = time.perf_counter()
    split_rng, _, train_rng, draw_rng, path_rng, test_rng = generators_from(random_state, 6)
    first, bound = np.split(split_rng.permutation(n_learn), [round(recipe.prior_fraction * n_learn)])
    networks = _learned(recipe, images[first], digits[first], train_rng, report)
    posterior = Posterior.from_networks(networks, networks, Ancestral(recipe.paths))
    scorer = deploy(posterior.aggregation, networks, draw_rng, code_words(10, recipe.code_length))
    terms = Terms(delta=recipe.delta, n_candidates=recipe.n_candidates)
    names = tuple("0123456789")
    bound_rows = BoundRows(features_of(images[bound], recipe.features), digits[bound])
    evidence = observe_posterior(posterior, scorer, bound_rows, names, terms, path_rng, report).evidence
    if evidence is None:
        raise KeyboardInterrupt
    certificate = certify(evidence, terms)
    vote_bound = certificate.vote_error_bound
    gibbs_bound = certificate.gibbs_risk_bound
    bound_risk = certificate.empirical_gibbs_risk
    if vote_bound is None or gibbs_bound is None or bound_risk is None:
        raise ValueError("the bound rows give no certificate for the vote.")
    test_features = features_of(images[n_learn:], recipe.features)
    test_digits = digits[n_learn:]
    risks = mean_risks(networks, test_features, test_digits, 10, test_rng, None)[0]
    return DigitsResult(
        recipe=recipe,
        gibbs_certificate=gibbs_bound,
        vote_certificate=vote_bound,
        test_error=float(np.mean(scorer.votes(test_features) != test_digits)),
        test_gibbs_risk=float(risks.mean()),
        bound_rows=len(bound),
        bound_vote_errors=evidence.errors,
        bound_gibbs_risk=bound_risk,
        seconds=round(time.perf_counter() - begin, 1),
    )


def _learned(
    recipe: DigitsRecipe, images: NDArray[np.float32], digits: NDArray[np.intp], rng: np.random.Generator, report: Any
) -> Any:
    moved = [images, *(shifted(images, rng) for _ in range(recipe.copies))]
    X = np.concatenate([features_of(some, recipe.features) for some in moved])
    plan = MixturePlan(10**9, recipe.batch_size, recipe.rate, recipe.epochs, linear=True)
    learner = PosteriorLearner((X.shape[1], recipe.hidden, recipe.code_length), Ancestral(), recipe.members, 10)
    targets = np.eye(10)[np.tile(digits, len(moved))]
    with compilation_cache():
        outcome = learn_members(learner, lift(X), targets, plan, rng, report=report)
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome.networks


_FIGURES = [field.name for field in fields(DigitsResult) if field.name != "recipe"]
_COLUMNS = [*(field.name for field in fields(DigitsRecipe)), *_FIGURES]


def results_to_csv(results: Sequence[DigitsResult]) -> str:
    """A line for each recipe: its parameters, then the figures; certificates are rounded up."""
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for result in results:
        figures: dict[str, Any] = {name: getattr(result, name) for name in _FIGURES}
        for name in ("gibbs_certificate", "vote_certificate"):
            figures[name] = math.ceil(figures[name] * 1e5 - 1e-6) / 1e5
        for name in ("test_gibbs_risk", "bound_gibbs_risk"):
            figures[name] = round(figures[name], 5)
        writer.writerow({**asdict(result.recipe), **figures})
    return out.getvalue()


def read_digits(path: Path) -> list[DigitsResult]:
    """Read a file written by `results_to_csv`; empty if there is no such file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [_from_line(line) for line in csv.DictReader(file)]


def _from_line(line: Mapping[str, str]) -> DigitsResult:
    try:
        recipe = DigitsRecipe(**{f.name: _typed(f.type, line[f.name]) for f in fields(DigitsRecipe)})
        figures = {f.name: _typed(f.type, line[f.name]) for f in fields(DigitsResult) if f.name in _FIGURES}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"a line of multiclass.csv was not written by this command: {dict(line)}.") from error
    return DigitsResult(recipe, **figures)


def _typed(kind: Any, text: str) -> Any:
    if kind in (str, "str"):
        return text
    if kind in (int, "int"):
        return int(text)
    return float(text)


def multiclass(features: Sequence[str], output: Path, data_dir: str | None = None) -> None:
    """Measure the named recipes that the output file lacks, and write it after each of them."""
    finished = {result.recipe: result for result in read_digits(output)}
    with training_bar(1) as report:
        for recipe in [RECIPES[name] for name in features]:
            if recipe not in finished:
                images, digits = mnist_digits(data_dir=data_dir)
                finished[recipe] = measure_digits(recipe, images, digits, report=report)
            with atomic_path(output) as temporary:
                lines = results_to_csv([finished[known] for known in RECIPES.values() if known in finished])
                temporary.write_text(lines, encoding="utf-8", newline="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", choices=RECIPES, help="what the networks read; both by default")
    parser.add_argument("--data-dir", help="folder of the original files, tried before ABNET_DATA")
    parser.add_argument("--output", type=Path, default=Path("results/multiclass.csv"))
    given = parser.parse_args()
    named = list(RECIPES)
    if given.features is not None:
        named = [given.features]
    multiclass(named, given.output, given.data_dir)


if __name__ == "__main__":
    main()
