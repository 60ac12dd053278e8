"""Both backends offer every stage of the protocol with the same signature."""

import importlib
import inspect
import threading

import pytest
from itoscope.backends import BACKENDS, get_backend, use_backend
from itoscope.backends.protocol import Backend
from itoscope.errors import ArgumentError

STAGES = {name: item for name, item in vars(Backend).items() if inspect.isfunction(item) and name[0] != "_"}


def parameters(function, skip=0):
    found = list(inspect.signature(function).parameters.values())[skip:]
    return [(p.name, p.kind, p.default) for p in found]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("stage", STAGES)
def test_stage_has_the_signature_of_the_protocol(backend, stage):
    module = importlib.import_module(f"itoscope.backends.{backend}")
    assert hasattr(module, stage), f"{module.__name__} lacks the stage {stage} of backends/protocol.py"
    assert parameters(getattr(module, stage)) == parameters(STAGES[stage], skip=1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_backend_offers_nothing_but_stages(backend):
    module = importlib.import_module(f"itoscope.backends.{backend}")
    assert set(module.__all__) - {"set_threads"} <= set(STAGES)  # threads are those of the compiled one


def test_choice_of_backend():
    assert get_backend().__name__ == "itoscope.backends.rust"
    with use_backend("reference"):
        assert get_backend().__name__ == "itoscope.backends.reference"
        assert get_backend("rust").__name__ == "itoscope.backends.rust"
    assert get_backend().__name__ == "itoscope.backends.rust"
    with pytest.raises(ArgumentError, match=r"backend = 'gpu'.*'rust', 'reference'"):
        get_backend("gpu")


def test_the_backend_in_use_is_that_of_its_own_thread():
    seen = []
    with use_backend("reference"):
        thread = threading.Thread(target=lambda: seen.append(get_backend()))
        thread.start()
        thread.join()
        assert get_backend() is get_backend("reference")
    assert seen == [get_backend("rust")]
