"""`hold_jointly`: statements that hold together share δ (Bonferroni); each is computed at its share."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from abnet.certificates.certificate import Certificate
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.natural_order import natural_order

__all__ = ["JointNames", "Makes", "hold_jointly", "joint_shares"]

JointNames = Sequence[str] | Mapping[str, float]
"""Names of statements, which share δ equally; or their shares of δ, which add up to at most 1."""

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Makes:
    """At which δ to make statements.

    Attributes
    ----------
    delta : float
        Of statements for which the decision (or the thresholds) is given.
    whole : float
        The δ of the certificate.
    shares : mapping
        Shares of δ by the names of statements.
    """

    delta: float
    whole: float
    shares: Mapping[str, float]

    def choosing(self, unit: str) -> float:
        """The δ of a statement whose test chooses a decision: always the same, so that the decision is the same."""
        return self.whole * self.shares.get(unit, 1.0)


def joint_shares(joint: JointNames | None) -> dict[str, float]:
    """The share of δ of each name.

    Examples
    --------
    >>> joint_shares(["error rate", "classes"]), joint_shares({"error rate": 0.8, "classes": 0.2})
    ({'error rate': 0.5, 'classes': 0.5}, {'error rate': 0.8, 'classes': 0.2})
    """
    if joint is None:
        return {}
    if isinstance(joint, str):
        joint = [joint]
    if isinstance(joint, Mapping):
        shares = {name: float(share) for name, share in joint.items()}
    else:
        shares = dict.fromkeys(joint, 1.0 / max(len(joint), 1))
        if len(shares) < len(joint):
            raise ParameterError("{} names a statement twice.", Parameter("joint"))
    if len(shares) < 2:
        raise ParameterError("{} needs the names of two statements or more.", Parameter("joint"))
    if not all(share > 0.0 for share in shares.values()) or math.fsum(shares.values()) > 1.0 + _TOLERANCE:
        raise ParameterError("{}: the shares of δ must be positive and add up to at most 1.", Parameter("joint"))
    return shares


def hold_jointly(make: Callable[[Makes], Certificate], delta: float, joint: JointNames | None) -> Certificate:
    """Make a certificate in which the named statements hold jointly with probability 1-δ; others hold by themselves.

    By the union bound, statements that are each false with probability at most δ_i are all true with probability at
    least 1 - Σ δ_i, whatever they are about and however they depend on each other.

    Parameters
    ----------
    make : callable
        Makes the certificate from the same rows. Which statements it makes must not depend on the levels.
    delta : float
    joint : sequence of str or dict, or None
        Names of statements, fixed before the rows are seen: the subject of a single one, or the name of a family that
        holds jointly anyway, such as "classes". None: every statement holds by itself.
    """
    shares = joint_shares(joint)
    base = make(Makes(delta, delta, shares))
    if not shares:
        return base
    names = [statement.unit for statement in base.statements]
    missing = [name for name in shares if name not in names]
    # Without a certified decision there are no statements about what it costs.
    if missing and all(statement.value is not None for statement in base.statements):
        known = list(dict.fromkeys(names))
        listed = ", ".join(repr(known[place]) for place in natural_order(known))
        raise ParameterError(
            "{}: there is no statement {!r} in this certificate; it has {}.", Parameter("joint"), missing[0], listed
        )
    at_share = {share: make(Makes(delta * share, delta, shares)) for share in set(shares.values())}
    statements = []
    for place, name in enumerate(names):
        made = base
        if name in shares:
            made = at_share[shares[name]]
        statements.append(made.statements[place])
    stated = {name: share for name, share in shares.items() if name in names}
    return msgspec.structs.replace(base, statements=tuple(statements), shares=stated)
