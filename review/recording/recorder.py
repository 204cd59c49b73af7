"""Stands where the engine's resource monitor stands, and keeps what a program registers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2
from pulumi.runtime.proto import resource_pb2 as pb

from .answers import Answers, UnansweredError, place_of
from .echo import known_outputs, result, struct, unknown_result
from .manifests import FILES, from_files
from .sdk import in_output_form
from .sources import Sources
from .transforms import given, transformed, transformed_invoke
from .values import UNKNOWN, Reader, at, strings

STACK = "pulumi:pulumi:Stack"

FEATURES = (
    "SECRETS",
    "RESOURCE_REFERENCES",
    "ALIAS_SPECS",
    "REPLACEMENT_TRIGGER",
    "DELETED_WITH",
    "REPLACE_WITH",
    "TRANSFORMS",
    "INVOKE_TRANSFORMS",
    "PARAMETERIZATION",
    "RESOURCE_HOOKS",
    "ERROR_HOOKS",
    "STATE_MIGRATIONS",
)
"""What the engine can do as well; output values are left out, so that an unknown has one form only."""

_LEAST_SECRET = 4
"""Shorter secrets are not searched for in text: too much of it would be masked."""

Record = dict[str, Any]


class SameUrnError(ValueError):
    """Two resources of one program have one URN."""

    def __init__(self, urn: str, places: tuple[str | None, str | None]) -> None:
        made = " and ".join(place for place in places if place)
        super().__init__(
            f"two resources are called {urn}{f' ({made})' if made else ''}: "
            "give one of them another name, or a parent of another type"
        )


def make_urn(stack: str, project: str, parent: str, type_: str, name: str) -> str:
    """The URN as the engine makes it: the types of all ancestors but the stack's are chained before the own."""
    ancestors = parent.split("::", 3)[2] if parent else STACK
    if ancestors != STACK:
        type_ = f"{ancestors}${type_}"
    return f"urn:pulumi:{stack}::{project}::{type_}::{name}"


class Recorder:
    """The methods are those of the engine's ResourceMonitor service; the SDK calls them as it calls the engine."""

    _gpuyard_recorder = True
    """Tells the gate that a program is under a recorder, whichever copy of this module made it."""

    def __init__(
        self,
        project: str,
        stack: str,
        config: Mapping[str, str],
        answers: Answers,
        sources: Sources,
        upstream: Any = None,
        on_progress: Callable[[int], None] | None = None,
    ) -> None:
        self.resources: dict[str, Record] = {}
        self.sources = sources
        self.secrets: set[str] = set()
        self.loop: asyncio.AbstractEventLoop | None = None
        self._project, self._stack, self._config = project, stack, config
        self._answers, self._upstream, self._on_progress = answers, upstream, on_progress
        self._reader = Reader()
        self._read: set[str] = set()
        self._transforms: dict[str, tuple[list[Any], str]] = {}
        self._stack_transforms: list[Any] = []
        self._invoke_transforms: list[Any] = []
        self._lock = threading.Lock()

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802
        """Records a resource, and answers what a preview knows of its outputs."""
        urn = make_urn(self._stack, self._project, request.parent, request.type, request.name)
        if request.type == STACK:
            return pb.RegisterResourceResponse(urn=urn)
        callbacks = self._callbacks_of(urn, request)
        if callbacks:
            request = transformed(request, callbacks, self._running_loop())
        record = self._record(urn, request)
        with self._lock:
            self._keep(urn, record)
        if not request.custom:
            return pb.RegisterResourceResponse(urn=urn)
        provider = self.resources.get(record["provider"])
        if provider is not None and provider["unknown"]:
            # The engine does not configure a provider with unknown inputs, so nothing of its resources is known.
            return pb.RegisterResourceResponse(urn=urn, id="")
        return pb.RegisterResourceResponse(urn=urn, id="", object=known_outputs(request))

    def _callbacks_of(self, urn: str, request: Any) -> list[Any]:
        if request.transforms:
            self._transforms[urn] = (list(request.transforms), request.parent)
        elif self._transforms:
            self._transforms[urn] = ([], request.parent)
        if not self._transforms and not self._stack_transforms:
            return []
        callbacks = list(request.transforms)
        parent = request.parent
        while parent in self._transforms:
            inherited, parent = self._transforms[parent]
            callbacks += inherited
        return callbacks + self._stack_transforms

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self.loop is None:
            raise RuntimeError("the recorder has no event loop yet")
        return self.loop

    def _keep(self, urn: str, record: Record) -> None:
        if urn in self.resources or urn in self._read:
            raise SameUrnError(urn, (self.resources.get(urn, {}).get("source"), record.get("source")))
        self.resources[urn] = record
        for path in record["secret"]:
            self.secrets.update(text for text in strings(at(record["inputs"], path)) if len(text) >= _LEAST_SECRET)
        if self._on_progress is not None:
            self._on_progress(len(self.resources))

    def _record(self, urn: str, request: Any) -> Record:
        try:
            inputs, unknown, secret = self._reader.read(request.object)
        except ValueError as error:
            raise ValueError(f"{urn}: {error}") from error
        record = {
            "urn": urn,
            "type": request.type,
            "name": request.name,
            "parent": request.parent,
            "custom": request.custom,
            "provider": request.provider.rpartition("::")[0],
            "inputs": inputs,
            "unknown": unknown,
            "secret": secret,
            "options": self._options(request),
        }
        if request.remote:
            record["remote"] = True
        manifests = from_files(request.type, inputs, Path()) if request.type in FILES else {}
        if manifests:
            record["manifests"] = manifests
        source = self._source(request)
        if source is not None:
            record["source"] = source
        return record

    def _options(self, request: Any) -> Record:
        inherited = self.resources.get(request.parent, {}).get("options", {})
        options: Record = {}
        protect, retain = given(request, "protect"), given(request, "retainOnDelete")
        if inherited.get("protect") if protect is None else protect:
            options["protect"] = True
        if inherited.get("retain_on_delete") if retain is None else retain:
            options["retain_on_delete"] = True
        if request.ignoreChanges:
            options["ignore_changes"] = list(request.ignoreChanges)
        if request.dependencies:
            options["depends_on"] = sorted(request.dependencies)
        if request.aliases:
            options["aliases"] = sorted({self._alias(alias, request) for alias in request.aliases})
        return options

    def _alias(self, alias: Any, request: Any) -> str:
        if alias.urn:
            return str(alias.urn)
        spec = alias.spec
        parent = "" if spec.noParent else spec.parentUrn or request.parent
        stack, project = spec.stack or self._stack, spec.project or self._project
        return make_urn(stack, project, parent, spec.type or request.type, spec.name or request.name)

    def _source(self, request: Any) -> str | None:
        # Older SDKs send one position and no stack.
        stack = [frame.pc for frame in request.stackTrace.frames] if hasattr(request, "stackTrace") else []
        for position in stack or [request.sourcePosition]:
            name = self.sources.name(position.uri)
            if name is not None:
                return f"{name}:{position.line}"
        return None

    def ReadResource(self, request: Any) -> Any:  # noqa: N802
        """A resource that exists already: its id is known, its outputs are not. Nothing would be created."""
        urn = make_urn(self._stack, self._project, request.parent, request.type, request.name)
        with self._lock:
            if urn in self.resources or urn in self._read:
                raise SameUrnError(urn, (self.resources.get(urn, {}).get("source"), self._source(request)))
            self._read.add(urn)
        known = "" if UNKNOWN in request.id else request.id
        return pb.ReadResourceResponse(urn=urn, id=known, properties=request.properties)

    def Invoke(self, request: Any) -> Any:  # noqa: N802
        """Answers a call of a provider function.

        Raises UnansweredError where the program needs the result at once and there is no answer.
        """
        if request.tok == "pulumi:pulumi:getResource":
            return self._resource(request)
        if self._invoke_transforms:
            request = transformed_invoke(request, self._invoke_transforms, self._running_loop())
        args = self._reader.read(request.args)[0]
        exact = self._answers.computed(request.tok, args)
        if exact is not None:
            return result(exact)
        if self._upstream is not None and not request.provider and not request.packageRef:
            # The gate, inside a real run: the real provider answers as it will answer the program itself.
            return self._upstream.Invoke(request)
        provider = self.resources.get(request.provider.rpartition("::")[0], {}).get("inputs", {})
        answer = self._answers.find(request.tok, args, place_of(request.tok, args, provider, self._config))
        if answer is not None and not (answer.made_up and in_output_form.get()):
            return result(answer.value)
        unknown = unknown_result() if in_output_form.get() else None
        if unknown is None:
            raise UnansweredError(request.tok)
        return unknown

    def _resource(self, request: Any) -> Any:
        record = self.resources.get(request.args.fields["urn"].string_value)
        if record is None:
            raise LookupError(
                f"the program reads {request.args.fields['urn'].string_value}, which it has not registered"
            )
        hidden = {path.split("/")[1] for path in record["unknown"]}
        state = {name: value for name, value in record["inputs"].items() if name not in hidden}
        return result({"urn": record["urn"], "id": "", "state": state})

    def Call(self, request: Any) -> Any:  # noqa: N802
        """A method of a resource: its result is an output, and unknown."""
        return provider_pb2.CallResponse(**{"return": struct({"result": UNKNOWN})})

    def ExistsResource(self, request: Any) -> Any:  # noqa: N802
        """Whether something exists is not known."""
        return pb.ExistsResourceResponse(unknown=True)

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802
        """Outputs of components are not judged."""
        return empty_pb2.Empty()

    def RegisterStackTransform(self, request: Any) -> Any:  # noqa: N802
        """Every later resource goes through it."""
        self._stack_transforms.append(request)
        return empty_pb2.Empty()

    def RegisterStackInvokeTransform(self, request: Any) -> Any:  # noqa: N802
        """Every later function call goes through it."""
        self._invoke_transforms.append(request)
        return empty_pb2.Empty()

    def RegisterResourceHook(self, request: Any) -> Any:  # noqa: N802
        """Hooks run around creation, which does not happen here."""
        return empty_pb2.Empty()

    def RegisterErrorHook(self, request: Any) -> Any:  # noqa: N802
        """Hooks run around creation, which does not happen here."""
        return empty_pb2.Empty()

    def RegisterPackage(self, request: Any) -> Any:  # noqa: N802
        """A parameterised provider, known by its name from here on."""
        return pb.RegisterPackageResponse(ref=f"{request.name}:{request.parameterization.name}")

    def GetDeploymentInfo(self, request: Any) -> Any:  # noqa: N802
        """What this monitor supports."""
        numbers = dict(pb.ResourceMonitorFeature.items())
        names = (f"RESOURCE_MONITOR_FEATURE_{name}" for name in FEATURES)
        return pb.DeploymentInfo(supportedFeatures=[numbers[name] for name in names if name in numbers])

    def SupportsFeature(self, request: Any) -> Any:  # noqa: N802
        """What this monitor supports, as older SDKs ask for it."""
        return pb.SupportsFeatureResponse(hasSupport=request.id != "outputValues")

    def SignalAndWaitForShutdown(self, request: Any) -> Any:  # noqa: N802
        """Nothing is left to do."""
        return empty_pb2.Empty()
