"""Models by how many draws are of them, beside a count by hand."""

from collections import Counter

import numpy as np
import pytest
from itoscope.posterior.visited import visited


@pytest.mark.parametrize("k", [1, 7, 8, 36, 64, 65, 130])
def test_as_counted_by_hand(k):
    rng = np.random.default_rng(k)
    models = (rng.random((12, k)) < 0.3)[rng.integers(0, 12, 500)]
    rows, shares = visited(models, 5)
    counts = Counter(map(tuple, models.tolist()))
    expected = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]
    assert [tuple(row) for row in rows.tolist()] == [model for model, _ in expected]
    assert shares.tolist() == [many / 500 for _, many in expected]
