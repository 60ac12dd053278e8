"""Each sampling of a discovery has its own stream, and always the same."""

from itoscope.fit.streams import Stream


def test_the_numbers_are_those_that_saved_seeds_belong_to():
    numbers = [
        Stream.equation(3), Stream.drift(3), Stream.drift_beside_gamma(3), Stream.gamma(3), Stream.final_drift(),
        Stream.final_gamma(),
    ]  # fmt: skip
    assert [stream.number for stream in numbers] == [3, 3, 53, 103, 200, 201]
    assert Stream.gamma(0).seed(5) == 5 + 7919 * 100
    assert Stream.final_gamma().seed(2**63 - 1) == 7919 * 201 - 1


def test_streams_of_one_discovery_differ():
    """All that a noisy discovery can use, with more rounds of the drift than anybody asks for."""
    used = [Stream.drift(i) for i in range(50)] + [Stream.final_drift(), Stream.final_gamma()]
    used += [make(i) for make in (Stream.gamma, Stream.drift_beside_gamma) for i in range(50)]
    assert len({stream.seed(17) for stream in used}) == len(used)
    assert len({stream.name for stream in used}) == len(used)
