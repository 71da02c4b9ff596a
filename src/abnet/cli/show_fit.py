"""What `abnet fit` prints."""

from typing import TYPE_CHECKING

from abnet.cli import show

if TYPE_CHECKING:
    from abnet.cli.jobs.fit import FitOutcome
    from abnet.cli.jobs.holdout import HoldOut

__all__ = ["comparison", "show_fit"]


def show_fit(outcome: "FitOutcome", json: bool) -> None:
    """The certificate, what a hold-out bound gives on the same rows, and where the model is."""
    if json:
        show.as_json(outcome.to_dict())
        return
    labels, size = " or ".join(outcome.classes), show.count(outcome.n_rows, "row")
    print(f"Learned {outcome.target!r} ({labels}) from {size} and {show.count(outcome.n_columns, 'column')}.\n")
    print(outcome.promise(), end="\n\n")
    comparison(outcome.vote_bound, outcome.rivals)
    replaced = ", in place of an older file" if outcome.replaced else ""
    print(f"Model written to {outcome.output} ({show.kilobytes(outcome.size)}{replaced}).")
    print(f"Predict with:  abnet predict {outcome.output} NEW_TABLE")


def comparison(vote_bound: float | None, rivals: "tuple[HoldOut, ...]") -> None:
    """The certificate beside plain hold-out bounds, with the better one named whichever it is."""
    from abnet.bounds.wording import percent, percent_up

    own = [["this model", "-" if vote_bound is None else percent_up(vote_bound), ""]]
    others = [
        [rival.name, percent_up(rival.bound), f"{percent(rival.errors / rival.n_examples)} of {rival.n_examples:,}"]
        for rival in rivals
    ]
    show.paragraph("For comparison, what a plain hold-out (Clopper-Pearson) bound gives on the same rows:")
    show.rows(["", "error at most", "errors seen"], [*own, *others])
    print()
    show.paragraph(_verdict(vote_bound, rivals))


def _verdict(vote_bound: float | None, rivals: "tuple[HoldOut, ...]") -> str:
    best = min(rivals, key=lambda rival: rival.bound)
    alone = "Each figure holds by itself; choosing the smallest after looking is not covered."
    if vote_bound is None:
        return f"Only the plain hold-out bound certifies anything here: {best.name}."
    if vote_bound <= best.bound:
        return f"The certificate of this model is the tightest. {alone}"
    hint = " (--posterior frozen gives this model that bound)" if best.same_network else ""
    return f"The plain hold-out bound is tighter here: {best.name}{hint}. {alone}"
