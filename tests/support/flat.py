"""Public functions by flat parameters, as commands take them."""

import inspect
from typing import Any

import ncc


def signature(verb: str) -> dict[str, inspect.Parameter]:
    """Parameters of a function, those of its config one by one."""
    parameters = dict(inspect.signature(getattr(ncc, verb)).parameters)
    if "config" in parameters:
        parameters |= inspect.signature(type(parameters.pop("config").default)).parameters
    return parameters


def call(verb: str, *arguments: Any, **settings: Any) -> Any:
    """Call a function with the parameters that `signature` names."""
    config = inspect.signature(getattr(ncc, verb)).parameters.get("config")
    if config:
        names = settings.keys() & signature(verb).keys() - inspect.signature(getattr(ncc, verb)).parameters.keys()
        settings["config"] = type(config.default)(**{name: settings.pop(name) for name in names})
    return getattr(ncc, verb)(*arguments, **settings)
