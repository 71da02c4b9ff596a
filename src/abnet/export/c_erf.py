"""The error function in C, for a whole array and without branches, so that compilers vectorise it."""

from abnet.export.c_text import CPart

__all__ = ["erf_code"]

END = 5.7
"""From here on the error function is 1 within 1e-15."""
COEFFICIENTS = (
    1.0, 0.14104739588744303, 0.08952465545872913, 0.02453844598012186, 0.003395263258080773, 0.0012710032920073642,
    0.0003436372571524318, -2.83526984267349e-05, 1.54504657793367e-05, 7.937793842451934e-06, -4.820084937025933e-06,
    1.8595393369561087e-06, -4.355461011899506e-07, 7.010257243383092e-08, -6.614994435976433e-09,
    2.925337242091242e-10, 4.235442588582621e-12,
)  # fmt: skip
"""P with ``erf(x) = 1 - P(x)^-8`` within 2.1e-14 on [0, END], fitted to ``erfc(x)^(-1/8)`` (minimax)."""

_ERF = """
/* The error function of x * scale for n numbers x, in place, within 3e-14: 1 - P^-8 with a polynomial P, in four parts
   that do not wait for each other. Large numbers are cut off in a loop of their own: compilers vectorise both. */
static void abnet_erf(double *x, int n, double scale) {
    int i;
    for (i = 0; i < n; i++) {
        const double y = x[i] * scale;
        x[i] = y < -%(end)s ? -%(end)s : y > %(end)s ? %(end)s : y;
    }
    for (i = 0; i < n; i++) {
        const double t = fabs(x[i]), t2 = t * t, t4 = t2 * t2;
        const double a = %(a)s;
        const double b = %(b)s;
        const double c = %(c)s;
        const double d = %(d)s;
        const double p = (a + b * t) + (c + d * t) * t2, p2 = p * p, p4 = p2 * p2;
        x[i] = copysign(1.0 - 1.0 / (p4 * p4), x[i]);
    }
}
"""


def erf_code() -> CPart:
    """``static void abnet_erf(double *x, int n, double scale)``."""
    polynomials = {name: _horner(COEFFICIENTS[j::4]) for j, name in enumerate("abcd")}
    return CPart(_ERF % (polynomials | {"end": END}), flash=8 * len(COEFFICIENTS), libm=True)


def _horner(coefficients: tuple[float, ...]) -> str:
    """A polynomial of t4 in Horner's form."""
    *lower, highest = map(repr, coefficients)
    text = highest
    for coefficient in reversed(lower):
        if text != highest:
            text = f"({text})"
        text = f"{text} * t4 + {coefficient}"
    return text
