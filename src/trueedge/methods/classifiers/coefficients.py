"""Logistic coefficients of features with degree projected out."""

from __future__ import annotations

import numpy as np

from trueedge.methods.classifiers.linear import Floats, logistic_regression, orthogonal_to_last


def coefficients(rows: Floats, labels: Floats) -> tuple[Floats, Floats]:
    """Return logistic coefficients of the features of pairs, and their standard errors, float64 (d,) each.

    The last feature, the degree product, is projected out of the others. Every feature is scaled to L2 norm
    1, and the ridge penalty is 1.

    Args:
        rows: float64 (n, d), the features.
        labels: float64 (n,) of zeros and ones.

    Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, ICML 2025, Table 2.
    """
    freed, _, _ = orthogonal_to_last(rows)
    norms = np.sqrt((freed**2).sum(axis=0))
    # A feature that degree explains entirely leaves rounding errors, which must not be scaled up.
    empty = norms <= 1e-9 * np.maximum(np.sqrt((rows**2).sum(axis=0)), 1e-300)
    scaled = np.where(empty, 0.0, freed / np.where(empty, 1.0, norms))
    weights, constant = logistic_regression(scaled, labels, np.ones(rows.shape[1]))
    certain = 1.0 / (1.0 + np.exp(-(scaled @ weights + constant)))
    columns = np.column_stack([scaled, np.ones(len(rows))])
    curvature = (columns * (certain * (1 - certain))[:, None]).T @ columns
    curvature += np.diag([*np.ones(rows.shape[1]), 0.0])
    return weights, np.sqrt(np.diag(np.linalg.pinv(curvature))[:-1])
