"""Neurons that read independent signs: their exact mean outputs at any width, by the series of a square wave.

A neuron with Gaussian weights above independent signs s with means m outputs ``sgn(U)``,
``U = c + Σ_j v_j s_j + Z`` with ``v = w/sqrt(d + 1)``, ``c = b/sqrt(d + 1)`` and ``Z ~ N(0, 1)``. For ``0 < |u| < Λ``
the sign is the Fourier series of a square wave,

    ``sgn(u) = (4/π) Σ_{k≥0} sin(t_k u)/(2k + 1)``,  ``t_k = (2k + 1) π/Λ``,

and the characteristic function of U is a product over the signs, so

    ``E sgn(U) ≈ Σ_{k<N} a_k Im[e^{i c t_k} Π_j (cos v_j t_k + i m_j sin v_j t_k)]``,
    ``a_k = 4 e^{-t_k²/2}/(π (2k + 1))``.

That takes d N complex products instead of 2^d. The proof of both error terms is in docs/theory-wide.md.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.networks.cube import check_means, namespace
from abnet.networks.shapes import Float

__all__ = ["WaveSeries", "SquareWaves", "square_waves", "wave_error", "wave_means"]

REACH = {"float32": 5.3, "float64": 8.6}
"""T by precision: errors are of the size ``e^{-T²/2}``, which is 8e-7 and 9e-17."""
TERMS = {"float32": 32, "float64": 96}
"""Number of terms in JAX, where it cannot depend on the weights, by precision."""
BLOCK = 2**13
"""Complex numbers worked on at a time: the product and a factor of it stay in the cache."""
TABLE = 2**21
"""Largest number of entries of a table of cosines; wider layers are computed some neurons at a time."""
MOST_TERMS = 2**15
"""Weights that need more terms are refused: those of trained networks need a hundred."""


class SquareWaves(NamedTuple):
    """The square waves of some neurons: half periods and what the series needs of them, one row for each neuron."""

    half_period: Any
    """Λ, (units,)."""
    plain: Any
    """Whether Λ is B + T, (units,); if not, it is 2 T σ."""
    reach: Any
    """T, (units,)."""
    deviation: Any
    """``σ = sqrt(‖v‖² + 1)``, (units,): U is sub-Gaussian with this variance proxy, whatever the means."""
    frequencies: Any
    """``t_k``, (units, N)."""
    amplitudes: Any
    """``a_k``, (units, N)."""


def wave_means(V: Float[Any, "units _"], m: Float[Any, "rows d"]) -> Float[Any, "rows units"]:
    """Mean outputs of a layer of neurons with Gaussian weights above independent signs, at any width.

    ``Σ_s erf((W s + b)/sqrt(2(d + 1))) Π_j (1/2 + s_j/2 · m_j)``, by the series of the module's docstring. In NumPy the
    error is at most `wave_error`. In JAX the number of terms is fixed, for training: in float32 the error is 1e-6 for
    weights of usual size, and grows with the weights, to 1e-3 where ``‖w‖² = 50 d``. Gradients have the same accuracy.

    Parameters
    ----------
    V : array (units, d + 1)
        The layer, its bias as last column.
    m : array (rows, d)
        Means of the signs, in [-1, 1].

    Returns
    -------
    array (rows, units)

    Examples
    --------
    >>> V = np.array([[1.0, -2.0, 0.5]])
    >>> wave_means(V, np.array([[0.0, 0.5]])).round(6)
    array([[-0.208069]])
    >>> from abnet.networks.ancestral import sign_means
    >>> from abnet.networks.cube import corners, multilinear
    >>> multilinear(sign_means(V, corners(2, np.float64)), np.array([[0.0, 0.5]])).round(6)
    array([[-0.208069]])
    """
    check_means(m, 2)
    if V.ndim != 2 or V.shape[1] != m.shape[1] + 1:
        raise ValueError(f"a layer of shape {V.shape} does not match means of shape {m.shape}: it needs a bias column.")
    if namespace(m) is not np:
        return _means_in_jax(V, m)
    units = max(TABLE // (V.shape[1] * square_waves(V).frequencies.shape[1]), 1)
    parts = [WaveSeries.of(V[first : first + units]).means(m) for first in range(0, len(V), units)]
    return np.concatenate(parts, axis=1)


def square_waves(V: Float[Any, "units _"], n_terms: int | None = None) -> SquareWaves:
    """The square waves of the neurons of a layer.

    The half period is the smaller of two. ``Λ = B + T`` with ``B = ‖v‖₁ + |c|``, so that ``|U| ≥ Λ`` only if
    ``|Z| ≥ T``. Or ``Λ = 2 T σ``: a mean of U beyond ``T σ`` gives its sign away, and any other keeps ``|U| < Λ``, but
    for a probability of ``2 e^{-T²/2}``. N terms are enough if ``t_N = (2N + 1) π/Λ ≥ T``.

    Parameters
    ----------
    V : array (units, d + 1)
    n_terms : int, optional
        N; by default what T needs. Where it is too small for T, T is smaller.
    """
    xp = namespace(V)
    reach = REACH[V.dtype.name]
    scaled = _scaled(V)
    total = xp.abs(scaled).sum(axis=1)
    deviation = xp.sqrt((scaled[:, :-1] ** 2).sum(axis=1) + 1)
    plain_reach = xp.full_like(total, reach)
    other_reach = plain_reach
    if n_terms is not None:
        # The T with T Λ = (2N + 1) π, for either half period.
        product = (2 * n_terms + 1) * np.pi
        plain_reach = xp.minimum(plain_reach, 2 * product / (total + xp.sqrt(total**2 + 4 * product)))
        other_reach = xp.minimum(other_reach, xp.sqrt(product / (2 * deviation)))
    plain_period = total + plain_reach
    other_period = 2 * other_reach * deviation
    plain = plain_period <= other_period
    half_period = xp.where(plain, plain_period, other_period)
    if n_terms is None:
        n_terms = math.ceil((reach * half_period.max(initial=0) / np.pi - 1) / 2) + 1
        if n_terms > MOST_TERMS:
            raise ValueError(
                f"the weights are too large for the exact output: the largest sum of {V.shape[1] - 1} weights needs "
                f"{n_terms:,} terms of its series, and at most {MOST_TERMS:,} are computed."
            )
    odd = 2 * xp.arange(n_terms, dtype=V.dtype) + 1
    frequencies = V.dtype.type(np.pi) * odd[None, :] / half_period[:, None]
    amplitudes = V.dtype.type(4 / np.pi) * xp.exp(-(frequencies**2) / 2) / odd[None, :]
    return SquareWaves(
        half_period, plain, xp.where(plain, plain_reach, other_reach), deviation, frequencies, amplitudes
    )


def wave_error(V: NDArray[np.float64], of_means: float = 0.0) -> NDArray[np.float64]:
    """Proved upper bound on the error of `wave_means` in NumPy, in float64, for every neuron.

    The sum of: what lies beyond the half period, ``2 erfc((Λ - B)/√2)`` or ``4 e^{-T²/2}``; what follows the N-th
    term, ``(4/(Λ t_N) + 2/(π t_N²)) e^{-t_N²/2}``; the rounding of d factors and N terms; and errors of the means, each
    of which changes the result by at most ``sqrt(2/π) |v_j|`` times its size.

    Parameters
    ----------
    V : array (units, d + 1)
        In float64.
    of_means : float
        Upper bound on the errors of the means.

    Returns
    -------
    array (units,)

    Examples
    --------
    >>> bool(wave_error(np.ones((1, 101)))[0] < 1e-12)
    True
    """
    from scipy.special import erfc

    waves = square_waves(V)
    scaled = np.abs(_scaled(V))
    total = scaled.sum(axis=1)
    n_terms = waves.frequencies.shape[1]
    by_chance = np.exp(-(waves.reach**2) / 2)
    plain_error = np.maximum(2 * erfc((waves.half_period - total) / np.sqrt(2)), 2 * by_chance)
    beyond = np.where(waves.plain, plain_error, 4 * by_chance)
    t = (2 * n_terms + 1) * np.pi / waves.half_period
    omitted = (4 / (waves.half_period * t) + 2 / (np.pi * t**2)) * np.exp(-(t**2) / 2)
    # A factor's cosine, sine and products err by a few units in the last place; so does its angle v_j t_k.
    units_in_last_place = 12 * V.shape[1] + n_terms + 50 + 8 * total[:, None] * waves.frequencies
    rounding = np.finfo(np.float64).eps * (waves.amplitudes * units_in_last_place).sum(axis=1)
    from_means = np.sqrt(2 / np.pi) * scaled[:, :-1].sum(axis=1) * of_means
    return np.asarray(beyond + omitted + rounding + from_means)


def _scaled(V: Any) -> Any:
    """``(v, c) = (w, b)/sqrt(d + 1)``."""
    return V * V.dtype.type(V.shape[1] ** -0.5)


@dataclass(frozen=True, eq=False)
class WaveSeries:
    """The series of some neurons in NumPy: what of it depends on the weights alone.

    Attributes
    ----------
    scaled : array (units, d + 1)
        ``(v, c)``.
    limits : array (units,)
        ``T σ``: the output is the sign of ``c + Σ_j v_j m_j`` where that is as large.
    cosines, sines : arrays (d, units, N)
        Of ``v_j t_k``.
    by_imaginary, by_real : arrays (units, N)
        ``a_k cos(c t_k)`` and ``a_k sin(c t_k)``: what the imaginary and the real part of the product of the factors
        are multiplied by.
    """

    scaled: NDArray[Any]
    limits: NDArray[Any]
    cosines: NDArray[Any]
    sines: NDArray[Any]
    by_imaginary: NDArray[Any]
    by_real: NDArray[Any]

    @staticmethod
    def of(V: NDArray[Any]) -> "WaveSeries":
        """The series of a layer (units, d + 1)."""
        waves = square_waves(V)
        scaled = _scaled(V)
        angles = scaled.T[:, :, None] * waves.frequencies[None]
        return WaveSeries(
            scaled=scaled,
            limits=waves.reach * waves.deviation,
            cosines=np.cos(angles[:-1]),
            sines=np.sin(angles[:-1]),
            by_imaginary=waves.amplitudes * np.cos(angles[-1]),
            by_real=waves.amplitudes * np.sin(angles[-1]),
        )

    def means(self, m: NDArray[Any]) -> NDArray[Any]:
        """`wave_means` of these neurons."""
        shape = self.by_real.shape
        # One axis for all terms of all neurons, one row for each sign.
        cosines = self.cosines.reshape(m.shape[1], -1)
        sines = self.sines.reshape(m.shape[1], -1)
        weights = (self.by_imaginary + 1j * self.by_real).ravel()
        means = np.empty((len(m), len(self.scaled)), m.dtype)
        step = max(BLOCK // len(weights), 1)
        for first in range(0, len(m), step):
            rows = slice(first, first + step)
            terms = weights * _products(m[rows], cosines, sines)
            means[rows] = terms.imag.reshape(-1, *shape).sum(axis=2)
        return _with_sure_signs(means, self.limits, self.scaled, m)


def _products(m: NDArray[Any], cosines: NDArray[Any], sines: NDArray[Any]) -> NDArray[Any]:
    """``Π_j (cos v_j t + i m_j sin v_j t)``, (rows, terms)."""
    shape = (len(m), cosines.shape[1])
    product = np.ones(shape, np.result_type(m, 1j))
    factor = np.empty_like(product)
    for j, (cosine, sine) in enumerate(zip(cosines, sines, strict=True)):
        factor.real = cosine
        np.multiply(m[:, j, None], sine, out=factor.imag)
        product *= factor
    return product


def _with_sure_signs(means: Any, limits: Any, scaled: Any, m: Any) -> Any:
    """The sign of U's mean where that is T standard deviations or more from 0, and else `means`."""
    xp = namespace(m)
    mean = m @ scaled[:, :-1].T + scaled[None, :, -1]
    is_sure = xp.abs(mean) >= limits[None, :]
    return xp.where(is_sure, xp.sign(mean), means)


def _means_in_jax(V: Any, m: Any) -> Any:
    """`wave_means` in JAX, neuron by neuron: the numbers of all neurons at once would not stay in the cache."""
    import jax

    # The result does not depend on the half period, so neither does its gradient.
    waves = square_waves(jax.lax.stop_gradient(V), TERMS[V.dtype.name])
    scaled = _scaled(V)
    if len(V) == 1:
        means = _mean_in_jax(scaled[0], waves.frequencies[0], waves.amplitudes[0], m)[:, None]
    else:
        neurons = (scaled, waves.frequencies, waves.amplitudes)
        # The backward pass computes a neuron's products again: those of all neurons would fill the memory.
        means = jax.lax.map(jax.checkpoint(lambda neuron: _mean_in_jax(neuron[0], neuron[1], neuron[2], m)), neurons).T
    return _with_sure_signs(means, waves.reach * waves.deviation, scaled, m)


def _mean_in_jax(scaled: Any, frequencies: Any, amplitudes: Any, m: Any) -> Any:
    """The series of one neuron, (rows,)."""
    import jax.numpy as jnp

    angles = scaled[:, None] * frequencies[None]
    real, imaginary = _jax_products()(m, jnp.cos(angles[:-1]), jnp.sin(angles[:-1]))
    terms = imaginary * jnp.cos(angles[-1])[None] + real * jnp.sin(angles[-1])[None]
    return terms @ amplitudes


@cache
def _jax_products() -> Any:
    """`_products` in JAX, real and imaginary parts, with a custom gradient.

    A pass over the signs keeps the product of the factors before each one, and the backward pass multiplies those after
    it. So no factor is divided by, however small it is, and nothing of the size rows × d × N is made but the former.
    """
    import jax
    import jax.numpy as jnp

    @jax.custom_vjp
    def products(m: Any, cosines: Any, sines: Any) -> Any:
        return forward(m, cosines, sines)[0]

    def forward(m: Any, cosines: Any, sines: Any) -> Any:
        def multiply(product: Any, factor: Any) -> Any:
            return _times(product, factor), product

        one = jnp.ones((m.shape[0], cosines.shape[1]), m.dtype)
        product, before = jax.lax.scan(multiply, (one, 0 * one), (m.T, cosines, sines))
        return product, (m, cosines, sines, before)

    def backward(kept: Any, slopes: Any) -> Any:
        def step(slope: Any, factor: Any) -> Any:
            """From the slope of the product up to a factor: that of the factor, and of the product before it."""
            m_j, cosine, sine, real, imaginary = factor
            by_real, by_imaginary = slope
            by_cosine = by_real * real + by_imaginary * imaginary
            by_sine = by_imaginary * real - by_real * imaginary
            below = _times(slope, (-m_j, cosine, sine))
            return below, ((by_sine * sine[None]).sum(axis=1), by_cosine.sum(axis=0), m_j @ by_sine)

        m, cosines, sines, before = kept
        factors = (m.T, cosines, sines, *before)
        _, (by_m, by_cosines, by_sines) = jax.lax.scan(step, slopes, factors, reverse=True)
        return by_m.T, by_cosines, by_sines

    products.defvjp(forward, backward)
    return products


def _times(product: Any, factor: Any) -> Any:
    """``(real + i imaginary) (cos + i m_j sin)`` for every row and term."""
    real, imaginary = product
    m_j, cosine, sine = factor
    slanted = m_j[:, None] * sine[None, :]
    return real * cosine[None] - imaginary * slanted, imaginary * cosine[None] + real * slanted
