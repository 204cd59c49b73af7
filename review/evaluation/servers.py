"""Inference servers that a program starts: their options, taken apart once, and the models that they load.

Options are told from words of a command, from a script, from variables and from what KServe and Ray Serve have in
their place. What a file in the container says, `--config`, is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from gpuyard.catalogue import security
from gpuyard.review.evaluation import shells
from gpuyard.review.evaluation.objects import Json, Object, pointer
from gpuyard.review.evaluation.shells import Command, Word
from gpuyard.review.program.goyaml import YamlError, parse
from gpuyard.review.values import at, mapping, sequence, text

_FLAG = re.compile(r"--?[A-Za-z][\w.-]*")
_SWITCH = re.compile(
    r"(?!--disable-access-log-for-endpoints)"
    r"--(?:no-)?(?:disable|enable|enforce|fully-sharded|headless|no|return|skip|trust|use)(?:-|$)"
)
"""Flags that take no value, by how they begin. Source: vLLM 0.32.0's parser."""
_BOOLEAN = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": True}
_HUB = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?", re.ASCII)
_OF_INTEREST = re.compile(r"(?:GLOO|HF|NCCL|NIXL|RAY|SGLANG|VLLM)_(?!.*(?:KEY|TOKEN|SECRET|PASSWORD))\w+")
"""Variables that rules may read; none that holds a secret by its name."""
_SERVE = {"RayService.ray.io": "serveConfigV2"}
_STACK = "vllm-stack"
"""vLLM's own chart. Source: values.yaml of vllm-project/production-stack."""
_KSERVE = ("InferenceService.serving.kserve.io", "LLMInferenceService.serving.kserve.io")

Options = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Engine:
    """What servers.yaml says of a server."""

    name: str
    product: str = ""
    programs: Mapping[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    positional: bool = False
    model: tuple[str, ...] = ()
    revision: tuple[str, ...] = ()
    tokenizer: tuple[str, ...] = ()
    tokenizer_revision: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    shortest: Mapping[str, str] = field(default_factory=dict)

    def flag(self, said: str) -> str:
        """A flag as the parser takes it: with hyphens, and whole where a part of it is enough."""
        name = said.replace("_", "-")
        whole = (flag for flag, part in self.shortest.items() if flag.startswith(name) and name.startswith(part))
        return next(whole, name)


@cache
def engines() -> Mapping[str, Engine]:
    """Reads servers.yaml, once."""
    said: Any = parse(files("gpuyard.review.evaluation").joinpath("servers.yaml").read_text("utf-8"))
    lists = ("modules", "model", "revision", "tokenizer", "tokenizer_revision")
    found: dict[str, Engine] = {}
    for name, of in said.items():
        fields: dict[str, Any] = {key: tuple(value) if key in lists else value for key, value in of.items()}
        found[name] = Engine(name, **fields)
    return found


def of_pod(pod: Json) -> Iterator[Json]:
    """The servers of a prepared pod: `{urn, path, container, engine, options: {flag: value}, places: {flag: pointer},
    environment, models: [{role, name, source, revision, path}], host_network}`.

    A flag without a value is true. `source` of a model is hub, bucket, volume, image, url or path; its `path` is where
    the program names it, and its revision is empty where it is left out.
    """
    for item in pod["containers"]:
        container, path = item["container"], item["path"]
        for command in shells.commands(container, path):
            started = _started(command, _product(item))
            if started:
                engine, words = started
                yield _server(pod, item, engine, words, command.environment)


def of_object(urn: str, item: Object) -> Iterator[Json]:
    """The same of what KServe and Ray Serve have in the place of a command."""
    if item.key in _SERVE:
        place = (*item.path, "spec", _SERVE[item.key])
        yield from _ray_serve(urn, pointer(place), text(at(item.body, "spec", _SERVE[item.key])) or "")
    elif item.key in _KSERVE:
        yield from _kserve(urn, item)


def of_release(release: Json) -> Iterator[Json]:
    """The same of vLLM's own chart: the models of `servingEngineSpec`."""
    listed = at(release["values"], "servingEngineSpec", "modelSpec") if release["chart"] == _STACK else None
    for i, spec in enumerate(sequence(listed)):
        path = f"/values/servingEngineSpec/modelSpec/{i}"
        engine, given = (
            engines()["vllm"],
            shells.texts(at(spec, "vllmConfig", "extraArgs"), f"{path}/vllmConfig/extraArgs"),
        )
        model = text(at(spec, "modelURL"))
        options, places = _options(engine, [(word, place) for place, word in given])
        if model:
            options[engine.model[0]], places[engine.model[0]] = model, f"{path}/modelURL"
        models = list(_models(engine, options, places))
        yield _without_a_pod(release["urn"], path, engine.name, options, places, models)


def _product(item: Json) -> str | None:
    """The product that a container's image starts by itself; None where the container says what is started."""
    if item["container"].get("command") or "image" not in item:
        return None
    return security.software_of("image", item["image"]["repository"])


def _started(command: Command, product: str | None) -> tuple[Engine, list[Word]] | None:
    """The server that a command starts, and the arguments that it gets; whatever wraps it comes before."""
    said = [word for word, _ in command.words]
    for i, word in enumerate(said):
        name, following = word.rpartition("/")[2], said[i + 1] if i + 1 < len(said) else ""
        for engine in engines().values():
            if name in engine.programs and engine.programs[name] in ("", following):
                return engine, command.words[i + (2 if engine.programs[name] else 1) :]
            if word == "-m" and following in engine.modules:
                return engine, command.words[i + 2 :]
    # The image's own entrypoint: what the container says are its arguments.
    own = next((engine for engine in engines().values() if product and engine.product == product), None)
    return (own, command.words) if own else None


def _server(pod: Json, item: Json, engine: Engine, words: list[Word], environment: Mapping[str, str]) -> Json:
    options, places = _options(engine, words)
    for variable, flag in engine.environment.items():
        if variable in environment and flag not in options:
            value = environment[variable]
            options[flag] = _BOOLEAN.get(value.lower(), value) if _SWITCH.match(flag) else value
            places[flag] = f"{item['path']}/env"
    return {
        "urn": pod["urn"],
        "path": item["path"],
        "container": text(item["container"].get("name")) or "",
        "engine": engine.name,
        "options": options,
        "places": places,
        "environment": {name: value for name, value in environment.items() if _OF_INTEREST.fullmatch(name)},
        "models": list(_models(engine, options, places)),
        "host_network": pod["spec"].get("hostNetwork") is True,
    }


def _options(engine: Engine, words: list[Word]) -> tuple[Options, dict[str, str]]:
    """Options and where they are; of one that is given twice the last, as parsers take it."""
    options: Options = {}
    places: dict[str, str] = {}
    i = 0
    while i < len(words):
        word, place = words[i]
        i += 1
        said, equals, value = word.partition("=")
        if not _FLAG.fullmatch(said):
            if engine.positional and engine.model and engine.model[0] not in options and word:
                options[engine.model[0]], places[engine.model[0]] = word, place
            continue
        flag = engine.flag(said)
        following = words[i][0] if i < len(words) else "-"
        if _SWITCH.match(flag):
            on: Any = True
            if equals or following.lower() in ("true", "false"):
                given = value if equals else following
                i += 0 if equals else 1
                on = _BOOLEAN.get(given.lower(), given)
            options[flag], places[flag] = on, place
        elif equals:
            options[flag], places[flag] = value, place
        elif following and not following.startswith("-"):
            options[flag], places[flag] = following, words[i][1]
            i += 1
        else:
            options[flag], places[flag] = True, place
    return options, places


def _models(engine: Engine, options: Options, places: Mapping[str, str]) -> Iterator[Json]:
    roles = (("model", engine.model, engine.revision), ("tokenizer", engine.tokenizer, engine.tokenizer_revision))
    loaded = next((options[flag] for flag in engine.model if flag in options), None)
    for role, flags, revisions in roles:
        flag = next((flag for flag in flags if flag in options), None)
        if flag is None or (role == "tokenizer" and options[flag] == loaded):
            continue
        revision = next((options[named] for named in revisions if isinstance(options.get(named), str)), "")
        found = _model(role, options[flag], revision, places[flag])
        if found:
            yield found


def _model(role: str, name: Any, revision: str, path: str) -> Json | None:
    """A model by what names it; None where that is not known yet, or is none."""
    if not isinstance(name, str) or not name or "$" in name:
        return None
    scheme, separator, rest = name.partition("://")
    if separator and scheme == "hf":
        name, _, of_uri = rest.partition(":")
        source, revision = "hub", of_uri or revision
    elif separator:
        sources = {"pvc": "volume", "oci": "image", "http": "url", "https": "url", "file": "path"}
        source = sources.get(scheme, "bucket")
    else:
        source = "hub" if _HUB.fullmatch(name) else "path"
    return {"role": role, "name": name, "source": source, "revision": revision, "path": path}


def _kserve(urn: str, item: Object) -> Iterator[Json]:
    """Models that KServe fetches, and the arguments that it passes on."""
    predictor = (*item.path, "spec", "predictor", "model")
    container = at(item.body, "spec", "predictor", "model")
    uris = [((*predictor, "storageUri"), at(container, "storageUri"))]
    place = (*item.path, "spec", "model")
    uris.append(((*place, "uri"), at(item.body, "spec", "model", "uri")))
    models = [found for path, uri in uris if (found := _model("model", uri, "", pointer(path)))]
    words = [(word, where) for where, word in shells.texts(at(container, "args"), f"{pointer(predictor)}/args")]
    options, places = _options(engines()["kserve"], words)
    models += _models(engines()["kserve"], options, places)
    if models or options:
        yield _without_a_pod(urn, pointer(predictor if container else place), "kserve", options, places, models)


def _ray_serve(urn: str, path: str, said: str) -> Iterator[Json]:
    """Models of Ray Serve LLM: `llm_configs` of each application."""
    if "llm_configs" not in said:
        return
    try:
        read = parse(said)
    except (YamlError, RecursionError):
        return
    for application in sequence(at(read, "applications")):
        for model in sequence(at(application, "args", "llm_configs")):
            given = mapping(at(model, "engine_kwargs"))
            options = {f"--{str(key).replace('_', '-')}": _option(value) for key, value in given.items()}
            loading = mapping(at(model, "model_loading_config"))
            source = loading.get("model_source", loading.get("model_id"))
            if isinstance(source, dict):
                source = source.get("bucket_uri")
            revision = options.get("--revision", "")
            found = _model("model", source, revision if isinstance(revision, str) else "", path)
            models = [found] if found else []
            yield _without_a_pod(urn, path, "vllm", options, dict.fromkeys(options, path), models)


def _option(value: Any) -> Any:
    return value if isinstance(value, bool | str) else str(value)


def _without_a_pod(
    urn: str, path: str, engine: str, options: Options, places: Mapping[str, str], models: list[Json]
) -> Json:
    about = {"urn": urn, "path": path, "container": "", "engine": engine, "environment": {}, "host_network": False}
    return about | {"options": options, "places": dict(places), "models": models}
