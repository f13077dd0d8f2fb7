"""Online learning on candidate lists, by the formulas of Chiang (2012) and nothing else."""

import math
from typing import Any

import numpy as np

from tests.reference import quadratic


class Document:
    """Section 2.4; it begins as one perfect sentence of four words."""

    def __init__(self, decay: float = 0.9) -> None:
        self.b, self.decay = np.array([4.0, 3, 2, 1, 4, 3, 2, 1, 4]), decay

    @staticmethod
    def bleu(b: Any) -> Any:
        if min(b[:8]) <= 0:
            return 0.0
        return math.exp(sum(math.log(b[k] / b[4 + k]) for k in range(4)) / 4 + min(0.0, 1 - b[8] / b[4]))

    def B(self, b: Any) -> Any:  # noqa: N802
        return self.b[4] * (self.bleu(self.b + b) - self.bleu(self.b))

    def update(self, b: Any) -> None:
        self.b = self.decay * (self.b + b)


class Twin:
    """One learner. ``h`` and ``b`` are the features and the statistics of the candidates of a sentence, a row each."""

    def __init__(
        self,
        w: Any,
        algorithm: str = "sgd",
        eta: float = 0.01,
        sigma: Any = None,
        lambda_: float = 0.01,
        objective: str = "hinge",
        temperature: float = 1.0,
    ) -> None:
        self.w = np.array(w, float)
        self.algorithm, self.objective, self.lambda_, self.temperature = algorithm, objective, lambda_, temperature
        self.sigma = np.full(len(self.w), eta) if sigma is None else np.array(sigma, float)
        self.document = Document()
        self.s, self.t = np.zeros(len(self.w)), 0

    def learn(self, h: Any, b: Any, mu: Any = -1.0) -> None:
        B = np.array([self.document.B(each) for each in b])
        score = h @ self.w
        best = int(np.argmax(score))
        if self.objective == "risk":
            p = np.exp(score / self.temperature)
            p /= p.sum()
            x = ((p * B) @ h - (p @ B) * (p @ h)) / self.temperature
            self.step(x)
        elif self.objective == "secant":
            p, q = (np.exp((score + sign * abs(mu) * B) / self.temperature) for sign in (1, -1))
            self.step((p / p.sum() - q / q.sum()) @ h / abs(mu))
        else:
            hope = int(np.argmax(score - mu * B))
            x, loss = h[hope] - h, B[hope] - B
            if self.objective == "perceptron":
                x, loss = x[[best]], loss[[best]]
            if self.algorithm == "sgd":
                fear = int(np.argmax(loss - x @ self.w))
                self.step(x[fear])
            else:
                w, _ = quadratic.solve(self.w, self.sigma, x, loss)
                moved = (w - self.w) / self.sigma
                self.w = w
                self.shrink(moved)
        self.s, self.t = self.s + self.w, self.t + 1
        self.document.update(b[best])

    def step(self, x: Any) -> None:
        self.w = self.w + self.sigma * x
        self.shrink(x)

    def shrink(self, x: Any) -> None:
        if self.algorithm == "arow":
            self.sigma = 1 / (1 / self.sigma + self.lambda_ * x**2)
