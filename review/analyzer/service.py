"""The engine's Analyzer protocol.

Whatever goes wrong is an error to the engine, which then deploys nothing; no failure is an answer without findings.
"""

from __future__ import annotations

import datetime
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, plugin_pb2

from gpuyard.review.analyzer import messages
from gpuyard.review.analyzer.growing import GrowingStack, config_secrets
from gpuyard.review.analyzer.levels import Levels
from gpuyard.review.analyzer.registered import DEFAULTS, STACK, Registered
from gpuyard.review.days import check_day
from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation.evaluate import Policies, Rulebook, rulebook
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.evaluation.masks import Mask
from gpuyard.review.evaluation.rules import Rule, load

SERVICE = "pulumirpc.Analyzer"

Method = Callable[[Any, Any], Awaitable[Any]]


class Analyzer:
    """Answers one engine about one stack. Its methods are those of the protocol."""

    # ruff: noqa: N802 - the protocol's names and signatures

    def __init__(self, policies: Policies, *, cancelled: Callable[[], object]) -> None:
        self._policies, self._cancelled = policies, cancelled
        self._levels = Levels()
        self._registered = Registered()
        self._configuration = analyzer_pb2.AnalyzerStackConfigureRequest()
        self._secrets: list[str] = []
        self._book: Rulebook | None = None
        self._rules_alone: Mapping[str, Rule] = {}
        self._stack: GrowingStack | None = None
        self._answers: dict[frozenset[str], Any] = {}
        """By the rules that were asked, the answer where none of them has found anything."""

    def handlers(self) -> Any:
        """The protocol's methods, for a server."""
        methods: dict[str, tuple[Method, Any]] = {
            "Handshake": (self.Handshake, analyzer_pb2.AnalyzerHandshakeRequest),
            "ConfigureStack": (self.ConfigureStack, analyzer_pb2.AnalyzerStackConfigureRequest),
            "GetAnalyzerInfo": (self.GetAnalyzerInfo, empty_pb2.Empty),
            "GetPluginInfo": (self.GetPluginInfo, empty_pb2.Empty),
            "Configure": (self.Configure, analyzer_pb2.ConfigureAnalyzerRequest),
            "Remediate": (self.Remediate, None),
            "Analyze": (self.Analyze, analyzer_pb2.AnalyzeRequest),
            "AnalyzeStack": (self.AnalyzeStack, analyzer_pb2.AnalyzeStackRequest),
            "Cancel": (self.Cancel, empty_pb2.Empty),
        }
        handlers = {
            name: grpc.unary_unary_rpc_method_handler(
                self._closed(method),
                request_deserializer=message and message.FromString,
                response_serializer=lambda response: response.SerializeToString(),
            )
            for name, (method, message) in methods.items()
        }
        return grpc.method_handlers_generic_handler(SERVICE, handlers)

    async def Handshake(self, request: Any, context: Any) -> Any:
        """The engine says who it is; its address is on the command line too."""
        return analyzer_pb2.AnalyzerHandshakeResponse()

    async def ConfigureStack(self, request: Any, context: Any) -> Any:
        """Which stack is judged: rules and limits are read now. A pack that is only looked at has no stack."""
        self._configuration = request
        self._secrets = config_secrets(request.config, request.config_secret_keys)
        if request.stack:
            self._book = rulebook(request.stack, self._policies)
        return analyzer_pb2.AnalyzerStackConfigureResponse()

    async def GetAnalyzerInfo(self, request: Any, context: Any) -> Any:
        """The rules."""
        return messages.pack(self._rules.values())

    async def GetPluginInfo(self, request: Any, context: Any) -> Any:
        """The version."""
        return plugin_pb2.PluginInfo(version=messages.VERSION)

    async def Configure(self, request: Any, context: Any) -> Any:
        """What `--policy-pack-config` says of the rules' levels."""
        self._levels.configure(self._rules, {name: c.enforcementLevel for name, c in request.policyConfig.items()})
        return empty_pb2.Empty()

    async def Remediate(self, request: bytes, context: Any) -> Any:
        """Changes nothing, but this message alone tells defaults of a provider from what the program says."""
        if DEFAULTS.encode() in request:
            self._registered.defaults(analyzer_pb2.AnalyzeRequest.FromString(request))
        return analyzer_pb2.RemediateResponse()

    async def Analyze(self, request: Any, context: Any) -> Any:
        """Judges a resource before it is created."""
        if request.type == STACK:
            told = [messages.loosened(rule, how, request.urn) for rule, how in self._levels.loosened(self._rules)]
            return analyzer_pb2.AnalyzeResponse(diagnostics=told, not_applicable=messages.not_asked(self._rules))
        resource = self._registered.resource(request)
        if resource is None:
            return analyzer_pb2.AnalyzeResponse(not_applicable=messages.not_asked(self._rules))
        findings, asked = self._growing(request.urn).add(resource)
        if asked not in self._answers:
            apart = messages.not_asked(rule for rule in self._rules if rule not in asked)
            self._answers[asked] = analyzer_pb2.AnalyzeResponse(not_applicable=apart)
        answer = self._answers[asked]
        if findings:
            diagnostics = self._diagnostics(findings)
            answer = analyzer_pb2.AnalyzeResponse(diagnostics=diagnostics, not_applicable=answer.not_applicable)
        return answer

    async def AnalyzeStack(self, request: Any, context: Any) -> Any:
        """All resources are in: judges what only the whole stack can tell."""
        resources = list(request.resources)
        depends_on = {resource.urn: resource.dependencies for resource in resources}
        growing = self._growing(next((resource.urn for resource in resources), ""))
        return analyzer_pb2.AnalyzeResponse(diagnostics=self._diagnostics(growing.complete(depends_on)))

    async def Cancel(self, request: Any, context: Any) -> Any:
        """The engine wants no more answers."""
        self._cancelled()
        return empty_pb2.Empty()

    @property
    def _rules(self) -> Mapping[str, Rule]:
        if self._book is not None:
            return self._book.rules.rules
        self._rules_alone = self._rules_alone or load(self._policies.directories).rules
        return self._rules_alone

    def _growing(self, urn: str) -> GrowingStack:
        """The stack; where the engine judges a state without a deployment, a URN tells which stack it is."""
        if self._stack is None:
            named = urn.split("::")
            stack, project = (named[0].rpartition(":")[2], named[1]) if len(named) > 1 else ("", "")
            stack, project = self._configuration.stack or stack, self._configuration.project or project
            if not stack or not project:
                raise GateError("the engine does not say which stack it deploys")
            date = datetime.datetime.now(datetime.UTC).date().isoformat()
            check_day(date)
            self._book = self._book or rulebook(stack, self._policies)
            self._stack = GrowingStack(
                self._book,
                project,
                date=date,
                config=dict(self._configuration.config),
                secret_keys=self._configuration.config_secret_keys,
            )
        return self._stack

    def _diagnostics(self, findings: Iterable[Finding]) -> list[Any]:
        found = ((finding, self._levels.of(finding)) for finding in findings)
        return [
            messages.diagnostic(finding, self._rules[finding.rule], level)
            for finding, level in found
            if level != analyzer_pb2.DISABLED
        ]

    def _closed(self, method: Method) -> Method:
        """The method, of which any failure is an error of one line that holds no secret."""

        async def answered(request: Any, context: Any) -> Any:
            try:
                return await method(request, context)
            except (GateError, InputError) as error:
                problem = "; ".join(str(error).splitlines())
            except Exception as error:
                problem = f"{type(error).__name__}: {' '.join(str(error).split())}"
            # An error that nobody foresaw may quote a value.
            hidden = self._stack.mask(problem) if self._stack else Mask([], self._secrets)(problem)
            await context.abort(
                grpc.StatusCode.FAILED_PRECONDITION, f"gpuyard cannot judge this, so nothing is deployed: {hidden}"
            )
            raise AssertionError("abort raises")

        return answered
