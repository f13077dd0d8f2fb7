"""The generator of core/random.h."""

from typing import Any

MASK = 2**64 - 1


class SplitMix64:
    def __init__(self, seed: Any, stream: Any = None) -> None:
        self.state = seed & MASK
        if stream is not None:
            self.state = self.bits() ^ ((stream * 0xDA942042E4DD58B5 + 1) & MASK)
            self.bits()

    def bits(self) -> Any:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n: Any) -> Any:
        return (self.bits() * n) >> 64

    def shuffle(self, items: Any) -> None:
        for k in range(len(items), 1, -1):
            j = self.below(k)
            items[k - 1], items[j] = items[j], items[k - 1]
