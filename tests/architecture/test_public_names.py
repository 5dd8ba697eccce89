"""The public names: each is a promise (contract H6)."""

import inspect
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from operator import attrgetter
from typing import Any, get_args, get_type_hints

import pytest

import logoadmin
from logoadmin import *  # noqa: F403 (mypy finds its names as well)
from logoadmin.domain.kernel.use_cases import Service, rights_of

pytestmark = pytest.mark.rule("contract H6")

NAMES = sorted(dir(logoadmin))


def test_all_has_exactly_the_common_names() -> None:
    assert set(logoadmin.__all__) < set(NAMES)
    assert len(logoadmin.__all__) == len(set(logoadmin.__all__)) <= 75
    namespace: dict[str, object] = {}
    exec("from logoadmin import *", namespace)
    assert namespace.keys() - {"__builtins__"} == set(logoadmin.__all__)
    assert CreateAuthor is logoadmin.CreateAuthor  # noqa: F405 (see above)


def test_commands_and_results_of_every_use_case_are_public() -> None:
    services = [type(each) for each in vars(logoadmin.connect()).values() if isinstance(each, Service)]
    used = {
        each.__name__
        for service in services
        for name, method in inspect.getmembers(service, lambda method: hasattr(method, "work"))
        for each in (*rights_of(service, name), *own_types(get_type_hints(method.work)["return"]))
    }
    assert used - {*NAMES} == set()


def own_types(hint: Any) -> Iterator[type]:
    """Yield the package's own types in a hint."""
    if isinstance(hint, type) and hint.__module__.startswith("logoadmin"):
        yield hint
    for part in get_args(hint):
        yield from own_types(part)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="attribute 'CreateArtist'"):
        attrgetter("CreateArtist")(logoadmin)
    assert not hasattr(logoadmin, "__wrapped__")


def test_the_version_is_that_of_the_package() -> None:
    assert logoadmin.__version__ == version("logoadmin")


def test_the_package_is_marked_as_typed() -> None:
    assert files("logoadmin").joinpath("py.typed").is_file()
    assert files("logoadmin").joinpath("__init__.pyi").is_file()
