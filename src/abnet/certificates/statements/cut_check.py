"""What the statements of a certificate count at a threshold must fit together, and fit the facts."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate

__all__ = ["check_cut"]


class _Count(NamedTuple):
    number: int
    source: str


def check_cut(called: str, certificate: "Certificate") -> None:
    """Raise a ValueError if what is counted at a threshold contradicts itself.

    A statement names its counts in `Statement.cut_counts` as `abnet.certificates.cut_counts.CutCounts` does, and counts
    wrong answers as "errors".

    Parameters
    ----------
    called : str
        The class that rows above the threshold are predicted as.
    certificate : Certificate
    """
    counts = _counts_of_facts(called, certificate)
    for statement in certificate.statements:
        for name, number in statement.cut_counts().items():
            known = counts.setdefault(name, _Count(number, f"the {statement.about}"))
            if known.number != number:
                raise ValueError(
                    f"the {statement.about} has {name} = {number}, but by {known.source} it is {known.number}."
                )
    _check_sums({name: count.number for name, count in counts.items()})


def _counts_of_facts(called: str, certificate: "Certificate") -> dict[str, _Count]:
    """Rows by class; if the facts count the answers of the cut, also its errors."""
    facts = certificate.facts
    positive = facts.place_of(called)
    if positive > 1 or len(facts.classes) < 2:
        raise ValueError(f"a threshold is for two classes, but the facts have {', '.join(facts.classes)}.")
    negative = 1 - positive
    numbers = {
        "rows": facts.n_rows,
        "positives": facts.class_rows[positive],
        "negatives": facts.class_rows[negative],
        "others": facts.n_rows - facts.class_rows[positive],
    }
    if _facts_count_cut(certificate):
        numbers["positives_above"] = facts.class_rows[positive] - facts.class_errors[positive]
        numbers["negatives_above"] = facts.class_errors[negative]
        numbers["errors"] = sum(facts.class_errors)
    return {name: _Count(number, "the facts") for name, number in numbers.items()}


def _facts_count_cut(certificate: "Certificate") -> bool:
    """Whether the facts count the answers of the cut: not if they count the plain vote, or no cut is certified."""
    if certificate.counts_plain_vote:
        return False
    return all(statement.value is not None for statement in certificate.statements if statement.is_goal)


def _check_sums(counts: dict[str, int]) -> None:
    """Raise a ValueError if no numbers of rows by class, above and below the threshold, have these sums."""
    unknown = counts["others"] - counts["negatives"]
    for part in ("rows", "positives", "negatives", "others"):
        _check_between(f"{part}_above", counts.get(f"{part}_above"), 0, counts[part])
    if "positives_above" in counts and "rows_above" in counts:
        others_above = counts["rows_above"] - counts["positives_above"]
        _check_between("others_above", counts.setdefault("others_above", others_above), others_above, others_above)
        _check_between("others_above", others_above, 0, counts["others"])
    if "others_above" in counts and "negatives_above" in counts:
        unknown_above = counts["others_above"] - counts["negatives_above"]
        _check_between("unknown labels above the threshold", unknown_above, 0, unknown)
    if "positives_above" not in counts:
        return
    # Rows with an unknown label are errors, whether or not they are above the threshold.
    missed = counts["positives"] - counts["positives_above"]
    if "negatives_above" in counts:
        errors = missed + counts["negatives_above"] + unknown
        _check_between("errors", counts.get("errors"), errors, errors)
    elif "others_above" in counts:
        least = missed + counts["others_above"]
        _check_between("errors", counts.get("errors"), least, least + unknown)


def _check_between(what: str, number: int | None, least: int, most: int) -> None:
    if number is not None and not least <= number <= most:
        raise ValueError(
            f"the statements about the threshold have {what} = {number}: it must lie in [{least}, {most}]."
        )
