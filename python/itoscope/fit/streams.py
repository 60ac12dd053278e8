"""The random streams of a discovery, by name: each sampling of a posterior has its own."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Stream"]

APART = 7919
"""What the seeds of two streams of one discovery differ by: a prime, so that small seeds do not meet."""


@dataclass(frozen=True)
class Stream:
    """One random stream: its number, and what the sampling is called while it runs."""

    number: int
    name: str

    @classmethod
    def equation(cls, i: int) -> Stream:
        """Of the i-th equation of a measured state, in its rounds and at the end."""
        return cls(i, f"equation {i + 1}")

    @classmethod
    def drift(cls, i: int) -> Stream:
        """Of the i-th round of the drift while Gamma is constant."""
        return cls(i, f"drift, round {i + 1}")

    @classmethod
    def drift_beside_gamma(cls, i: int) -> Stream:
        """Of the i-th round of the drift that follows one of Gamma."""
        return cls(50 + i, f"drift, round {i + 1} beside Gamma")

    @classmethod
    def gamma(cls, i: int) -> Stream:
        """Of the i-th round of Gamma."""
        return cls(100 + i, f"Gamma, round {i + 1}")

    @classmethod
    def final_drift(cls) -> Stream:
        """Of the full chains of the drift on the last moments."""
        return cls(200, "drift")

    @classmethod
    def final_gamma(cls) -> Stream:
        """Of the full chains of Gamma on the last moments."""
        return cls(201, "Gamma")

    @classmethod
    def law(cls, i: int) -> Stream:
        """Of what not knowing the law of the noise of a step does to the i-th entry of Gamma."""
        return cls(300 + i, f"law of entry {i + 1}")

    def seed(self, seed: int) -> int:
        """The seed of this stream in a discovery with `seed`."""
        return (seed + APART * self.number) % 2**63
