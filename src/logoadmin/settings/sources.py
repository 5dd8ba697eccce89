"""The sources of settings by precedence: flags, environment, secrets directory, file, defaults (contract H1, K4)."""

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from logoadmin.domain.kernel.errors import SettingsError
from logoadmin.settings.settings import MOVED, Settings, problems_of, wrong_settings
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


@dataclass(frozen=True, slots=True)
class _Source:
    """One source: values and origins by setting, and its errors."""

    values: Mapping[str, Any]
    origins: Mapping[str, str]
    problems: tuple[str, ...] = ()


def load_settings(**flags: Any) -> Settings:
    """Return the settings from all sources, with their origins; flags win, and None means not given.

    Raises:
        SettingsError: the message names each wrong setting and the reason, never its value.
    """
    sources = (_file(), _secrets(), _environment(), _flags(flags))  # the last one wins
    values = {name: value for source in sources for name, value in source.values.items()}
    origins = {name: origin for source in sources for name, origin in source.origins.items()}
    problems = [problem for source in sources for problem in source.problems]
    try:
        settings = Settings(**values)
    except ValidationError as error:
        problems += [_problem(name, text, origins) for name, text in problems_of(error)]
    if problems:
        raise wrong_settings(problems)
    return settings.given_by(origins)


def _problem(name: str, text: str, origins: Mapping[str, str]) -> str:
    if not name:  # the text names it
        return text
    origin = origins.get(name.partition(".")[0])
    return f"{name}: {text}" if origin is None else f"{name} ({origin}): {text}"


def _flags(flags: Mapping[str, Any]) -> _Source:
    values = {name: value for name, value in flags.items() if value is not None}
    return _Source(values, {name: f"--{name.replace('_', '-')}" for name in values})


def _environment() -> _Source:
    variables = {name: value for name, value in os.environ.items() if name.upper().startswith(_PREFIX)}
    variables = {name: value for name, value in variables.items() if not name.startswith(_PLATFORM_PREFIXES)}
    links = [name for name, value in variables.items() if value.startswith(_URLS)]
    known = {f"{_PREFIX}{name.upper()}": name for name in Settings.model_fields}
    found = {known[name]: name for name in variables if name in known and name not in links}
    unknown = variables.keys() - known.keys() - {_CONFIG_VARIABLE, _SECRETS_VARIABLE, *links}
    problems = [f"{', '.join(sorted(links))}: {_KUBERNETES_PROBLEM}"] if links else []
    problems += _unknown(unknown, {*known, _CONFIG_VARIABLE, _SECRETS_VARIABLE})
    return _Source({name: variables[variable] for name, variable in found.items()}, found, tuple(problems))


def _secrets() -> _Source:
    directory = os.environ.get(_SECRETS_VARIABLE)
    if not directory:
        return _Source({}, {})
    known = {f"{_PREFIX}{name}".lower(): name for name in Settings.model_fields}
    with _readable(directory):
        try:
            found = {file.name: file for file in Path(directory).absolute().iterdir()}
        except (FileNotFoundError, NotADirectoryError):
            msg = f"{_SECRETS_VARIABLE} names a directory that does not exist: {directory}"
            raise SettingsError(msg) from None
    files = {name: file for name, file in found.items() if name.upper().startswith(_PREFIX)}
    values, origins = {}, {}
    for name in files.keys() & known.keys():
        with _readable(str(files[name])):
            values[known[name]] = decoded(files[name].read_bytes(), str(files[name])).strip()
        origins[known[name]] = str(files[name])
    problems = _unknown(files.keys() - known.keys(), known)
    return _Source(values, origins, tuple(f"{directory}: {problem}" for problem in problems))


def _file() -> _Source:
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
            return _Source({}, {})
        found = tomllib.loads(text)
    known = Settings.model_fields
    values = {name: value for name, value in found.items() if name in known}
    problems = tuple(f"{file}: {problem}" for problem in _unknown(found.keys() - known.keys(), known))
    return _Source(values, dict.fromkeys(values, str(file.absolute())), problems)


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
        if moved := MOVED.get(short.lower()):
            yield f"{name}: {moved}"
            continue
        matches = get_close_matches(short, full_names, 1)
        yield f"unknown setting {name}" + (f", did you mean {full_names[matches[0]]}?" if matches else "")
