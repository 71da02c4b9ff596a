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
    choosing : float
        Of those whose test chooses the decision. It is the same whatever `delta` is, so that all statements are about
        the same decision.
    """

    delta: float
    choosing: float


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


def hold_jointly(
    make: Callable[[Makes], Certificate],
    delta: float,
    joint: JointNames | None,
    *,
    choosing: Sequence[str] = (),
) -> Certificate:
    """Make a certificate in which the named statements hold jointly with probability 1-δ; others hold by themselves.

    Parameters
    ----------
    make : callable
        Makes the certificate at given levels, from the same rows. Which statements it makes must not depend on them,
        except that all others may be missing if nothing was certified.
    delta : float
    joint : sequence of str or dict, or None
        Names of statements, fixed before the rows are seen: the subject of a single one, or the name of a family that
        holds jointly anyway, such as "classes". None: every statement holds by itself.
    choosing : sequence of str
        Names of statements whose test chooses the decision.
    """
    shares = joint_shares(joint)
    if not shares:
        return make(Makes(delta, delta))
    chosen_at = delta
    for name in choosing:
        if name in shares:
            chosen_at = delta * shares[name]
    base = make(Makes(delta, chosen_at))
    names = [statement.unit for statement in base.statements]
    missing = [name for name in shares if name not in names]
    is_met = all(statement.value is not None for statement in base.statements if statement.unit in choosing)
    if missing and is_met:
        known = list(dict.fromkeys(names))
        listed = ", ".join(repr(known[place]) for place in natural_order(known))
        raise ParameterError(
            "{}: there is no statement {!r} in this certificate; it has {}.", Parameter("joint"), missing[0], listed
        )
    at_share = {share: make(Makes(delta * share, chosen_at)) for share in set(shares.values())}
    statements = []
    for place, name in enumerate(names):
        made = base
        if name in shares:
            made = at_share[shares[name]]
        statements.append(made.statements[place])
    stated = {name: share for name, share in shares.items() if name in names}
    return msgspec.structs.replace(base, statements=tuple(statements), shares=stated)
