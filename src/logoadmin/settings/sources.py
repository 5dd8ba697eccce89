"""The sources of settings by precedence: flags, environment, secrets directory, file, defaults (contract H1, K4)."""

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from logoadmin.domain.kernel.errors import SettingsError
from logoadmin.settings.settings import Settings, problems_of, wrong_settings
from logoadmin.text_files import decoded

_PREFIX: Final = "LOGOADMIN_"
_CONFIG_FILE: Final = "logoadmin.toml"
_CONFIG_VARIABLE: Final = "LOGOADMIN_CONFIG"
_SECRETS_VARIABLE: Final = "LOGOADMIN_SECRETS_DIR"
# Kubernetes sets these in every container if a service is named logoadmin, and LOGOADMIN_PORT to a URL (contract K4).
_PLATFORM_PREFIXES: Final = ("LOGOADMIN_SERVICE_", "LOGOADMIN_PORT_")
_URLS: Final = ("tcp://", "udp://")
_KUBERNETES_PROBLEM: Final = (
    "set by Kubernetes for a service, not for logoadmin; rename that service so that it does not begin with "
    "logoadmin, or set enableServiceLinks: false for the pod"
)


# A setting, its value and its origin.
_Given = Iterator[tuple[str, Any, str]]


def load_settings(**flags: Any) -> Settings:
    """Return the settings from all sources, with their origins; flags win, and None means not given.

    Raises:
        SettingsError: the message names each wrong setting and the reason, never its value.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    problems: list[str] = []
    for source in (_file(problems), _secrets(problems), _environment(problems), _flags(flags)):  # the last one wins
        for name, value, origin in source:
            values[name], origins[name] = value, origin
    try:
        settings = Settings(**values)
    except ValidationError as error:
        problems += problems_of(error, origins)
    if problems:
        raise wrong_settings(problems)
    return settings.given_by(origins)


def _flags(flags: Mapping[str, Any]) -> _Given:
    for name, value in flags.items():
        if value is not None:
            yield name, value, f"--{name.replace('_', '-')}"


def _environment(problems: list[str]) -> _Given:
    variables = {name: value for name, value in os.environ.items() if name.upper().startswith(_PREFIX)}
    variables = {name: value for name, value in variables.items() if not name.startswith(_PLATFORM_PREFIXES)}
    if links := sorted(name for name, value in variables.items() if value.startswith(_URLS)):
        problems.append(f"{', '.join(links)}: {_KUBERNETES_PROBLEM}")
    known = {f"{_PREFIX}{name.upper()}": name for name in Settings.model_fields}
    others = {_CONFIG_VARIABLE, _SECRETS_VARIABLE}
    problems += _unknown(variables.keys() - known.keys() - others - {*links}, {*known, *others})
    for variable in variables.keys() & known.keys() - {*links}:
        yield known[variable], variables[variable], variable


def _secrets(problems: list[str]) -> _Given:
    directory = os.environ.get(_SECRETS_VARIABLE)
    if not directory:
        return
    known = {f"{_PREFIX}{name}".lower(): name for name in Settings.model_fields}
    with _readable(directory):
        try:
            found = {file.name: file for file in Path(directory).absolute().iterdir()}
        except (FileNotFoundError, NotADirectoryError):
            msg = f"{_SECRETS_VARIABLE} names a directory that does not exist: {directory}"
            raise SettingsError(msg) from None
    files = {name: file for name, file in found.items() if name.upper().startswith(_PREFIX)}
    problems += (f"{directory}: {problem}" for problem in _unknown(files.keys() - known.keys(), known))
    for name in files.keys() & known.keys():
        with _readable(str(files[name])):
            yield known[name], decoded(files[name].read_bytes(), str(files[name])).strip(), str(files[name])


def _file(problems: list[str]) -> _Given:
    path = os.environ.get(_CONFIG_VARIABLE)
    file = Path(path or _CONFIG_FILE)
    with _readable(str(file)):
        try:
            text = decoded(file.read_bytes(), str(file))
        except FileNotFoundError:
            if path:
                raise SettingsError(f"{_CONFIG_VARIABLE} names a file that does not exist: {path}") from None
            if file.is_symlink():
                raise
            return
        found = tomllib.loads(text)
    known = Settings.model_fields
    problems += (f"{file}: {problem}" for problem in _unknown(found.keys() - known.keys(), known))
    for name in found.keys() & known.keys():
        yield name, found[name], str(file.absolute())


@contextmanager
def _readable(file: str) -> Iterator[None]:
    """Report why a file cannot be read, without its content."""
    try:
        yield
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file} cannot be read: {error}") from None


def _unknown(names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """Report names that are not settings, with the closest setting."""
    full_names = {name.upper().removeprefix(_PREFIX): name for name in known}
    for name in sorted(names):
        short = name.upper().removeprefix(_PREFIX)
        matches = get_close_matches(short, full_names, 1)
        yield f"unknown setting {name}" + (f", did you mean {full_names[matches[0]]}?" if matches else "")
