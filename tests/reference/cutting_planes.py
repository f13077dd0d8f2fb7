"""UPDATEWEIGHTS of Chiang (2012), algorithms 2, 3 and 4, on candidate lists, each quadratic program solved exactly."""

from typing import Any

import numpy as np
from scipy.optimize import minimize

from tests.reference.online import Document


def solve_sets(before: Any, sigma: Any, sets: Any) -> Any:
    """The w that minimises 1/2 (w - before)' Sigma^-1 (w - before) + sum over sets of max_d (loss_d - w.x_d).

    ``sets`` has pairs (x, loss), a row for each constraint; d_i itself (x = 0, loss 0) is in every set. Returns w and
    the alphas of each set, without that of d_i.
    """
    sets = [(x, loss) for x, loss in sets if len(loss)]
    if not sets:
        return before.copy(), []
    x, loss = np.concatenate([x for x, _ in sets]), np.concatenate([loss for _, loss in sets])
    owner = np.repeat(np.arange(len(sets)), [len(loss) for _, loss in sets])
    gram, linear = x @ (sigma[:, None] * x.T), loss - x @ before
    each = (owner[None, :] == np.arange(len(sets))[:, None]).astype(float)
    optimum = minimize(
        lambda a: 0.5 * a @ gram @ a - linear @ a,
        np.full(len(loss), 0.1 / len(loss)),
        jac=lambda a: gram @ a - linear,
        method="SLSQP",
        bounds=[(0, 1)] * len(loss),
        constraints={"type": "ineq", "fun": lambda a: 1 - each @ a, "jac": lambda a: -each},
        options={"ftol": 1e-16, "maxiter": 5000},
    )
    alpha = np.clip(optimum.x, 0, 1)
    # The KKT conditions of the constraints that carry weight are linear: solved exactly.
    on, full = alpha > 1e-7, each @ alpha > 1 - 1e-7
    rows = each[full][:, on]
    kkt = np.block([[gram[np.ix_(on, on)], rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    exact = np.linalg.lstsq(kkt, np.concatenate([linear[on], np.ones(len(rows))]), rcond=None)[0][: on.sum()]
    if (exact >= -1e-9).all() and (each[:, on] @ exact <= 1 + 1e-9).all():
        alpha[:] = 0
        alpha[on] = np.maximum(0, exact)
    return before + sigma * (x.T @ alpha), [alpha[owner == k] for k in range(len(sets))]


class Learner:
    """One learner; ``lambda_`` above 0 is AROW. Working sets are pairs of arrays: x, and losses."""

    def __init__(self, w: Any, sigma: Any, lambda_: float = 0.0, epsilon: float = 1e-6) -> None:
        self.w, self.sigma = np.array(w, float), np.array(sigma, float)
        self.lambda_, self.epsilon, self.document = lambda_, epsilon, Document()

    def learn(self, h: Any, b: Any, heard: Any = (), mu: Any = -1.0) -> Any:
        """``h`` and ``b``: features and statistics of the candidates. Returns S_i without d_i."""
        B = np.array([self.document.B(each) for each in b])
        best, hope = int(np.argmax(h @ self.w)), int(np.argmax(h @ self.w - mu * B))
        before, w, chosen, alphas = self.w, self.w, [], []

        def violations(w: Any) -> Any:
            return (B[hope] - B) - (h[hope] - h) @ w

        first = True
        while True:
            v = violations(w)
            worst = int(np.argmax(v))
            again = v[worst] > max([0.0, *v[chosen]]) + self.epsilon
            if again:
                chosen.append(worst)
            if not again and not (first and heard):  # what was heard is optimised once, in any case
                break
            own = (h[hope] - h[chosen], B[hope] - B[chosen])
            w, alphas = solve_sets(before, self.sigma, [own, *heard])
            first = False
        self.w = w
        own = (h[hope] - h[chosen], B[hope] - B[chosen])
        if self.lambda_:
            for (x, _), alpha in zip([s for s in (own, *heard) if len(s[1])], alphas, strict=True):
                self.sigma = 1 / (1 / self.sigma + self.lambda_ * (alpha @ x) ** 2)
        self.document.update(b[best])
        return own
