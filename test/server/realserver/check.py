"""Say whether one installed release of the server takes a configuration, by running the release's own code.

Run it with the interpreter of the environment that the server is installed in. It reads one JSON object a line from
standard input and answers one a line on standard output:

    {"tier": "parse", "config": "<config.yaml as text>", "env": {"NAME": "value"}, "seconds": 20}
    {"ok": true}  or  {"ok": false, "phase": "provider inference/vllm", "error": "ValidationError", "message": "..."}

Tier "parse": the variables are substituted, the file is read into the top-level class, every enabled provider's type is
looked up and its configuration read into the provider's class. Nothing is connected, nothing is written.

Tier "initialise": the server's own application is made and started as uvicorn would do it, and stopped again, with HOME in
a directory of its own. What the start-up code connects to has to be there.

Tier "serve": the same, and the running application answers requests, in process. "home" is a directory to keep; what an
earlier start left there is found again. Each of "requests" is {"method", "path", "json"}, or has "file" for the text of an
upload in place of "json"; {0.id} in a path or a text is the id in the answer to the first of them. The answers come as
"answers", a list of {"status", "body"}.

With "without", a second configuration, "same" says whether both are read as the same: what the one has more is ignored.

An answer with "missing" names a package that is not installed: that says nothing about the configuration.
It works unchanged from llama-stack 0.2 to ogx 1.x; what differs between them is in the class Release.
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
import tempfile
import threading
import traceback
import warnings

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Failure(Exception):
    """A refusal by the server's code, and the part of the configuration that it came up in."""

    def __init__(self, phase: str, cause: BaseException):
        super().__init__(str(cause))
        self.phase, self.cause = phase, cause


@contextlib.contextmanager
def phase(name: str):
    """Name the part of the work in which an error comes up."""
    try:
        yield
    except Failure:
        raise
    except (Exception, SystemExit) as error:
        raise Failure(name, error) from error


class Release:
    """The installed release's own functions, by one name each."""

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
        """Let the server's own command refuse what it refuses before it starts the application; it listens nowhere.

        From 1.2 on it refuses plain HTTP that nobody asked for. What it writes for its workers goes away with the answer.
        """
        run = self._module("cli.stack.run")
        if not hasattr(run, "_dry_run_validate"):
            return  # of older ones the command does no more than the application
        listen, run.uvicorn.run = run.uvicorn.run, lambda *_, **__: None
        try:
            run._uvicorn_run(path, argparse.Namespace(insecure=False, port=None), None)
        finally:
            run.uvicorn.run = listen
        written = os.environ[self.config_variable]
        if written != path:
            os.remove(written)

    def application(self):
        """Make the server's application, as uvicorn's --factory would."""
        return self._module("core.server.server").create_app()


def parse(release: Release, text: str):
    """Read a configuration into the release's classes: the top level, and each enabled provider's by its name."""
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
    """Say whether two configurations are read as the same."""
    return values(*parse(release, text)) == values(*parse(release, without))


def values(config, read):
    """Take what was read for comparing; of a provider what its class has, and not what was written."""
    top = config.model_dump()
    for providers in top["providers"].values():
        for provider in providers:
            provider.pop("config", None)
    return top, {name: kind.model_dump() for name, kind in read.items()}


def provider_class(release: Release, config, provider):
    """Read one provider's configuration into its class."""
    kind = release.instantiate(provider.spec.config_class)
    written = dict(provider.config)
    # The resolver hands this section to every provider that has a field for it.
    shared = getattr(config, "vector_stores", None)
    if shared is not None and "vector_stores_config" in getattr(kind, "model_fields", {}):
        written["vector_stores_config"] = shared
    return kind(**written)


def initialise(release: Release, text: str, requests: list | None = None) -> list:
    """Start the server's application in this process, let it answer requests and stop it."""
    # What is checked for a mistake is checked by its class first: the message names the part then.
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
    """Make and start the application within one event loop, as uvicorn does."""
    app = release.application()
    async with app.router.lifespan_context(app):
        return await answer(app, requests) if requests else []


async def answer(app, requests: list) -> list:
    """Send requests to the application."""
    httpx = importlib.import_module("httpx")
    # A raised exception is an answer too: the server's own is an internal error.
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
                    break  # with Redis the first requests find connections of an event loop that is gone
            answers.append({"status": response.status_code, "body": response.text})
    return answers


def fill(text: str, answers: list) -> str:
    """Put the ids of earlier answers into a request."""
    for number, given in enumerate(answers):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            text = text.replace(f"{{{number}.id}}", json.loads(given["body"])["id"])
    return text


def run(release: Release, request: dict) -> dict:
    """Answer one request."""
    saved = dict(os.environ)
    # Again and again: what catches the first one, or waits for a thread, is interrupted once more.
    signal.setitimer(signal.ITIMER_REAL, request.get("seconds") or 30, 3)
    working.set()
    try:
        with contextlib.ExitStack() as stack:
            home = request.get("home") or stack.enter_context(tempfile.TemporaryDirectory())
            os.environ.update({"HOME": home, **request["env"]})
            if request["tier"] == "parse":
                parse(release, request["config"])
            else:
                if request["tier"] == "serve":
                    within(release)
                answers = initialise(release, request["config"], request.get("requests"))
                if request["tier"] == "serve":
                    return {"ok": True, "answers": answers}
            if request.get("without"):
                return {"ok": True, "same": same(release, request["config"], request["without"])}
        return {"ok": True}
    except Failure as failure:
        working.clear()
        return describe(failure)
    except TimeoutError as late:
        working.clear()
        return describe(Failure("stop", late))
    finally:
        working.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.environ.clear()
        os.environ.update(saved)


def describe(failure: Failure) -> dict:
    """Put a refusal into words."""
    cause = failure.cause
    answer = {"ok": False, "phase": failure.phase, "error": type(cause).__name__, "message": message(cause)}
    for error in chain(cause):
        if isinstance(error, ModuleNotFoundError) and error.name:
            answer["missing"] = error.name.split(".")[0]
    if os.environ.get("CHECK_TRACEBACK"):
        answer["message"] += "\n" + "".join(traceback.format_exception(cause))
    return answer


def message(cause: BaseException) -> str:
    """What an error says; of a validation error without the offending values."""
    if hasattr(cause, "errors") and hasattr(cause, "title"):
        found = [".".join(map(str, e["loc"])) + ": " + e["msg"] for e in cause.errors(include_url=False)]
        return "; ".join(found)
    return str(cause)


def chain(error: BaseException):
    """An error and those that caused it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def offline() -> None:
    """Let nothing but this machine be reached, and let that be known at once.

    A start asks every provider for its models. The clients of public services would try for seconds each, here in vain
    and elsewhere with somebody's network; nor is there anything to verify a certificate of.
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
    """Start no other process: what works off queued jobs (from 1.3 on) loads the whole server for nothing here."""
    with contextlib.suppress(ImportError):
        pool = importlib.import_module(f"{release.package}.core.jobs.worker").WorkerPool
        pool.start = pool.shutdown = lambda *_, **__: None


def within(release: Release) -> None:
    """Let the server do by itself what it queues for other processes."""
    with contextlib.suppress(ImportError):
        specs = importlib.import_module(f"{release.package}.providers.registry.file_processors")
        if not hasattr(specs, "queued"):
            specs.queued = specs.available_providers
            specs.available_providers = lambda: [inline(spec) for spec in specs.queued()]


def inline(spec):
    """Take the mark of queued work from a provider's specification."""
    if hasattr(spec, "execution_mode"):
        spec.execution_mode = "inline"
    return spec


# Set while the server's code runs; what ends it must not end this program.
working = threading.Event()


def on_alarm(*_) -> None:
    """End an answer that takes too long."""
    if working.is_set():
        raise TimeoutError("the server's code did not come to an end in time")


def main() -> None:
    """Answer requests until standard input ends."""
    warnings.filterwarnings("ignore")
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    # What the server prints is not an answer.
    os.dup2(2, 1)
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, on_alarm)
    release = Release()
    offline()
    alone(release)
    gc.freeze()  # what is loaded stays; collecting must not look at it each time
    for line in sys.stdin:
        answers.write(json.dumps(run(release, json.loads(line))) + "\n")


if __name__ == "__main__":
    main()
