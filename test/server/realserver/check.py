"""Check whether an installed release of the server accepts a configuration, by running the release's own code.

Run this program with the interpreter of the environment in which the server is installed. For each line with a JSON
object on standard input, it writes a line with a JSON object to standard output:

    {"tier": "parse", "config": "<config.yaml as text>", "env": {"NAME": "value"}, "home": "/tmp/1", "seconds": 20}
    {"ok": true}  or  {"ok": false, "phase": "provider inference/vllm", "error": "ValidationError", "message": "..."}

"home" is the directory for HOME and the working directory.

Tier "parse": the program substitutes the variables, reads the file into the top-level class, looks up the type of every
enabled provider, and reads the configuration of the provider into the class of the type. It opens no connection and
writes no file.

Tier "initialize": the program creates the server's application, and starts and stops it as uvicorn does. The services
to which the server connects when it starts must be running.

Tier "serve": as "initialize", and the running application answers requests in this process. If "home" contains the
files of an earlier start, the application uses them. Each entry of "requests" is {"method", "path", "json"}, or
contains the text of an upload in "file" in place of "json". In a path or a text, {0.id} is the id in the answer to the
first request. "answers" is a list of {"status", "body"}.

"without" is a second configuration. "same" is then true if the server reads the same values from both configurations,
which means that it ignores the keys that only the first one contains.

"late" in an answer means that the server's code reached the time limit of "seconds".

"missing" in an answer is the name of a package that is not installed. Such an answer states nothing about the
configuration. The program supports every release from llama-stack 0.2 to ogx 1.x. The class Release contains the
differences between them.
"""

import argparse
import asyncio
import contextlib
import gc
import importlib
import importlib.util
import json
import logging
import os
import signal
import socket
import ssl
import sys
import threading
import traceback
import warnings

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Failure(Exception):
    """An error of the server's code, with the part of the work in which it occurred."""

    def __init__(self, phase: str, cause: BaseException):
        super().__init__(str(cause))
        self.phase, self.cause = phase, cause


@contextlib.contextmanager
def phase(name: str):
    """Add the name of a part of the work to the errors that occur in it."""
    try:
        yield
    except Failure:
        raise
    except (Exception, SystemExit) as error:
        raise Failure(name, error) from error


class Release:
    """The functions of the installed release, with the same names for every release."""

    def __init__(self):
        self.package = "ogx" if importlib.util.find_spec("ogx") else "llama_stack"
        self.parse = self._module("core.configure").parse_and_maybe_upgrade_config
        self.instantiate = self._module("core.utils.dynamic").instantiate_class_type
        self.resolver = self._module("core.resolver")
        distribution = self._module("core.distribution")
        self.registry = distribution.get_provider_registry()
        routed = distribution.builtin_automatically_routed_apis()
        self.routing_tables = {api.routing_table_api for api in routed}
        self.routers = {api.router_api for api in routed}
        self.api = type(next(iter(self.routers)))
        self.config_variable = "OGX_CONFIG" if self.package == "ogx" else "LLAMA_STACK_CONFIG"

    def _module(self, name: str):
        return importlib.import_module(f"{self.package}.{name}")

    def command(self, path: str) -> None:
        """Run the checks that the server's command makes before it starts the application, without a port.

        Since release 1.2, the command rejects plain HTTP without an explicit setting. This method removes the file that
        the command writes for its workers.
        """
        run = self._module("cli.stack.run")
        if not hasattr(run, "_dry_run_validate"):
            return  # in older releases, the command has no additional checks
        listen, run.uvicorn.run = run.uvicorn.run, lambda *_, **__: None
        try:
            run._uvicorn_run(path, argparse.Namespace(insecure=False, port=None), None)
        finally:
            run.uvicorn.run = listen
        written = os.environ[self.config_variable]
        if written != path:
            os.remove(written)

    def application(self):
        """Create the server's application, as uvicorn does with --factory."""
        return self._module("core.server.server").create_app()


def parse(release: Release, text: str):
    """Read a configuration into the release's classes: the top level, and each enabled provider."""
    read = {}
    with phase("top level"):
        config = release.parse(yaml.load(text, Loader=LOADER))
    with phase("apis"):
        for name in config.apis or []:
            release.api(name)
    with phase("providers"):
        enabled = release.resolver.validate_and_prepare_providers(
            config, release.registry, release.routing_tables, release.routers
        )
    for api, providers in enabled.items():
        for provider_id, provider in providers.items():
            with phase(f"provider {api.removeprefix('inner-')}/{provider_id}"):
                read[f"{api}/{provider_id}"] = provider_class(release, config, provider)
    return config, read


def same(release: Release, text: str, without: str) -> bool:
    """Check whether the server reads the same values from two configurations."""
    return values(*parse(release, text)) == values(*parse(release, without))


def values(config, read):
    """Return the values to compare. For a provider, these are the values in its class, not its configuration."""
    top = config.model_dump()
    for providers in top["providers"].values():
        for provider in providers:
            provider.pop("config", None)
    return top, {name: kind.model_dump() for name, kind in read.items()}


def provider_class(release: Release, config, provider):
    """Read one provider's configuration into its class."""
    kind = release.instantiate(provider.spec.config_class)
    written = dict(provider.config)
    # The resolver passes this section to every provider that has a field for it.
    shared = getattr(config, "vector_stores", None)
    if shared is not None and "vector_stores_config" in getattr(kind, "model_fields", {}):
        written["vector_stores_config"] = shared
    return kind(**written)


def initialize(release: Release, text: str, requests: list | None = None) -> list:
    """Start the server's application in this process, send the requests to it, and stop it."""
    # The classes check the configuration first, so that an error names the part with the mistake.
    parse(release, text)
    path = os.path.join(os.environ["HOME"], "config.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    with phase("command"):
        release.command(path)
    os.environ[release.config_variable] = path
    with phase("start"):
        return asyncio.run(start(release, requests or []))


async def start(release: Release, requests: list) -> list:
    """Create and start the application within one event loop, as uvicorn does."""
    app = release.application()
    async with app.router.lifespan_context(app):
        return await answer(app, requests) if requests else []


async def answer(app, requests: list) -> list:
    """Send requests to the application."""
    httpx = importlib.import_module("httpx")
    # An exception counts as an answer, because the server responds to it with an internal error.
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    answers = []
    async with httpx.AsyncClient(transport=transport, base_url="http://server", timeout=60) as client:
        for request in requests:
            filled = json.loads(fill(json.dumps(request), answers))
            body = {"json": filled["json"]} if filled.get("json") is not None else {}
            if filled.get("file"):
                body = {"files": {"file": ("notes.txt", filled["file"].encode())}, "data": {"purpose": "assistants"}}
            for _ in range(4):
                response = await client.request(filled["method"], filled["path"], **body)
                if response.status_code != 500:
                    break  # with Redis, the first requests use connections of an event loop that is closed
            answers.append({"status": response.status_code, "body": response.text})
    return answers


def fill(text: str, answers: list) -> str:
    """Replace the placeholders in a request with the ids in earlier answers."""
    for number, given in enumerate(answers):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            text = text.replace(f"{{{number}.id}}", json.loads(given["body"])["id"])
    return text


def run(release: Release, request: dict) -> dict:
    """Answer one request."""
    saved = dict(os.environ)
    # The alarm repeats, because code may catch the first exception or wait for a thread.
    signal.setitimer(signal.ITIMER_REAL, request.get("seconds") or 30, 3)
    late.clear()
    working.set()
    try:
        os.chdir(request["home"])
        os.environ.update({"HOME": request["home"], **request["env"]})
        if request["tier"] == "parse":
            parse(release, request["config"])
        else:
            if request["tier"] == "serve":
                within(release)
            answers = initialize(release, request["config"], request.get("requests"))
            if request["tier"] == "serve":
                return {"ok": True, "answers": answers}
        if request.get("without"):
            return {"ok": True, "same": same(release, request["config"], request["without"])}
        return {"ok": True}
    except Failure as failure:
        working.clear()
        return describe(failure)
    except TimeoutError as error:
        working.clear()
        return describe(Failure("stop", error))
    finally:
        working.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.environ.clear()
        os.environ.update(saved)


def describe(failure: Failure) -> dict:
    """Return the answer for an error."""
    cause = failure.cause
    answer = {"ok": False, "phase": failure.phase, "error": type(cause).__name__, "message": message(cause)}
    for error in chain(cause):
        if isinstance(error, ModuleNotFoundError) and error.name:
            answer["missing"] = error.name.split(".")[0]
    if os.environ.get("CHECK_TRACEBACK"):
        answer["message"] += "\n" + "".join(traceback.format_exception(cause))
    return answer


def message(cause: BaseException) -> str:
    """Return the message of an error. For a validation error, it does not contain the invalid values."""
    if hasattr(cause, "errors") and hasattr(cause, "title"):
        found = [".".join(map(str, e["loc"])) + ": " + e["msg"] for e in cause.errors(include_url=False)]
        return "; ".join(found)
    return str(cause)


def chain(error: BaseException):
    """Yield an error and the errors that caused it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def offline() -> None:
    """Make connections to other machines fail immediately.

    When the server starts, it requests the models of every provider. Without this function, each client of a public
    service would try to connect for seconds. The function also replaces the default TLS context, because there are no
    certificates to verify.
    """
    resolve = socket.getaddrinfo

    def local(host, *args, **kwargs):
        if host in (None, "", b"") or host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "::"):
            return resolve(host, *args, **kwargs)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    socket.getaddrinfo = local
    ssl.create_default_context = lambda *_, **__: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with contextlib.suppress(ImportError):
        importlib.import_module("openai")
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("openai") and hasattr(module, "DEFAULT_MAX_RETRIES"):
            module.DEFAULT_MAX_RETRIES = 0


def alone(release: Release) -> None:
    """Prevent the start of worker processes for queued jobs, which exist since release 1.3 and are not needed here."""
    with contextlib.suppress(ImportError):
        pool = importlib.import_module(f"{release.package}.core.jobs.worker").WorkerPool
        pool.start = pool.shutdown = lambda *_, **__: None


def within(release: Release) -> None:
    """Make the server process queued jobs in its own process."""
    with contextlib.suppress(ImportError):
        specs = importlib.import_module(f"{release.package}.providers.registry.file_processors")
        if not hasattr(specs, "queued"):
            specs.queued = specs.available_providers
            specs.available_providers = lambda: [inline(spec) for spec in specs.queued()]


def inline(spec):
    """Change the execution mode in a provider's specification from queued to inline."""
    if hasattr(spec, "execution_mode"):
        spec.execution_mode = "inline"
    return spec


# This event is set while the server's code runs. The alarm raises an exception only if the event is set, so that the
# alarm never ends this program.
working = threading.Event()

# This event is set if the alarm raised an exception, also if the server's code caught the exception.
late = threading.Event()


def on_alarm(*_) -> None:
    """Stop a request that takes too long."""
    if working.is_set():
        late.set()
        raise TimeoutError("the server's code did not finish in time")


def main() -> None:
    """Answer requests until standard input ends."""
    warnings.filterwarnings("ignore")
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    # The output of the server goes to standard error, because it is not an answer.
    os.dup2(2, 1)
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, on_alarm)
    release = Release()
    offline()
    alone(release)
    gc.freeze()  # the loaded objects stay in memory, so the garbage collector need not examine them
    for line in sys.stdin:
        answer = run(release, json.loads(line))
        answers.write(json.dumps({**answer, "late": late.is_set()}) + "\n")


if __name__ == "__main__":
    main()
