"""The sources of settings, the first wins: flags, environment, secrets directory, file, defaults (contract H1, K4)."""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
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
_OF_PLATFORMS: Final = ("LOGOADMIN_SERVICE_", "LOGOADMIN_PORT_")
_LINK: Final = re.compile(r"_SERVICE_(HOST|PORT)|_PORT_[0-9]+_(TCP|UDP)", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Source:
    """One source: values and origins by setting, and its errors."""

    values: Mapping[str, Any]
    origins: Mapping[str, str]
    problems: tuple[str, ...] = ()


def load_settings(**flags: Any) -> Settings:
    """Return the settings from all sources, with their origins; flags win, and None means not given.

    Raises:
        SettingsError: naming each wrong setting and the reason, never its value.
    """
    sources = (_file(), _secrets(), _environment(), _flags(flags))  # the last one wins
    values = {name: value for source in sources for name, value in source.values.items()}
    origins = {name: origin for source in sources for name, origin in source.origins.items()}
    problems = [problem for source in sources for problem in source.problems]
    try:
        settings = Settings(**values)
    except ValidationError as error:
        problems += [_problem(name, text, values, origins) for name, text in problems_of(error)]
    if problems:
        raise wrong_settings(problems)
    return settings.given_by(origins)


def _problem(name: str, text: str, values: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    if not name:  # the text names it
        return text
    setting = name.partition(".")[0]
    if _is_link(origins.get(setting, ""), values.get(setting)):
        return _links([origins[setting]])
    return f"{name} ({origins[setting]}): {text}" if setting in origins else f"{name}: {text}"


def _flags(flags: Mapping[str, Any]) -> _Source:
    given = {name: value for name, value in flags.items() if value is not None}
    return _Source(given, {name: f"--{name.replace('_', '-')}" for name in given})


def _environment() -> _Source:
    names = {name.upper(): name for name in os.environ if name.upper().startswith(_PREFIX)}
    own = {f"{_PREFIX}{name.upper()}": name for name in Settings.model_fields}
    variables = {own[upper]: name for upper, name in names.items() if upper in own}
    known = {*own, _CONFIG_VARIABLE, _SECRETS_VARIABLE}
    unknown = {*names.values()} - {*variables.values()} - known
    unknown = {name for name in unknown if not name.startswith(_OF_PLATFORMS)}
    links = {name for name in unknown if _is_link(name, os.environ[name])}
    problems = [*([_links(sorted(links))] if links else []), *_unknown(unknown - links, known)]
    problems += _doubles((name, own.get(name.upper())) for name in os.environ)
    return _Source({name: os.environ[variable] for name, variable in variables.items()}, variables, tuple(problems))


def _is_link(name: str, value: Any) -> bool:
    """Whether a variable is set by Kubernetes for a service whose name begins with logoadmin."""
    is_url = isinstance(value, str) and value.startswith(("tcp://", "udp://"))
    return name.upper().startswith(_PREFIX) and (is_url or _LINK.search(name) is not None)


def _links(names: Iterable[str]) -> str:
    return (
        f"{', '.join(names)}: set by Kubernetes for a service, not for logoadmin; "
        "rename that service so that it does not begin with logoadmin, or set enableServiceLinks: false for the pod"
    )


def _secrets() -> _Source:
    directory = os.environ.get(_SECRETS_VARIABLE)
    if not directory:
        return _Source({}, {})
    known = {f"{_PREFIX}{name}".lower(): name for name in Settings.model_fields}
    with _readable(directory):
        try:
            found = [*Path(directory).absolute().iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            msg = f"{_SECRETS_VARIABLE} names a directory that does not exist: {directory}"
            raise SettingsError(msg) from None
    files = [file for file in found if file.name.lower().startswith(_PREFIX.lower())]
    named = {known[file.name.lower()]: file for file in files if file.name.lower() in known}
    values = {}
    for name, file in named.items():
        with _readable(str(file)):
            values[name] = decoded(file.read_bytes(), str(file)).strip()
    unknown = _unknown({file.name for file in files} - {file.name for file in named.values()}, known)
    doubles = _doubles((file.name, known.get(file.name.lower())) for file in files)
    problems = tuple(f"{directory}: {problem}" for problem in (*unknown, *doubles))
    return _Source(values, {name: str(file) for name, file in named.items()}, problems)


def _file() -> _Source:
    named = os.environ.get(_CONFIG_VARIABLE)
    file = Path(named or _CONFIG_FILE)
    with _readable(str(file)):
        try:
            text = decoded(file.read_bytes(), str(file))
        except FileNotFoundError:
            if named:
                raise SettingsError(f"{_CONFIG_VARIABLE} names a file that does not exist: {named}") from None
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


def _doubles(named: Iterable[tuple[str, str | None]]) -> Iterator[str]:
    """Report names of the same setting that differ only in case."""
    by_setting: dict[str, list[str]] = {}
    for name, setting in named:
        if setting is not None:
            by_setting.setdefault(setting, []).append(name)
    for setting, names in by_setting.items():
        if len(names) > 1:
            yield f"{' and '.join(sorted(names))} are the same setting {setting}; set only one of them"


def _unknown(names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """Report names that are not settings, with the closest setting."""
    written = {name.upper().removeprefix(_PREFIX): name for name in known}
    for name in sorted(names):
        meant = get_close_matches(name.upper().removeprefix(_PREFIX), written, 1)
        yield f"unknown setting {name}" + (f", did you mean {written[meant[0]]}?" if meant else "")
