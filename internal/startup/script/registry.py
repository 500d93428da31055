"""Brings the server's registry in line with its configuration, before the server starts.

    python registry.py --config FILE [--earlier PLACE]

The server keeps what is registered in a store and does not start when an entry of the configuration differs from the kept
one. So this program takes out what the configuration declares, what an earlier one declared, and what providers published;
the server registers all of that anew. It never takes out what clients registered. It exits with 0 whatever happens, and no
output holds a value of the environment or the text of an exception, which might contain a password.
"""

import logging
import os
import re
import signal
import sys
import time
import warnings

import startup_adoption
import startup_config
import startup_steps
import startup_stores


def _seconds():
    """How long the work may take: LLS_REGISTRY_SECONDS, from 1 to 999, or 15."""
    text = os.environ.get("LLS_REGISTRY_SECONDS", "")
    return int(text) if re.fullmatch("[1-9][0-9]{0,2}", text) else 15


SOFT_LIMIT = _seconds()  # seconds until the work is rolled back
HARD_LIMIT = SOFT_LIMIT + 5  # seconds until the process is ended, if a library hangs


class TimeLimit(BaseException):
    """The soft limit is over. No Exception, so that no library handles it."""


def say(text):
    """Prints one act on one line."""
    print("registry: " + re.sub(r"[^ -~]", "?", text[:2000]), flush=True)


def explain(error):
    """Says why, without the text of an exception unless that is known to hold no value."""
    if isinstance(error, startup_config.Refused):
        return str(error)
    if isinstance(error, TimeLimit):
        return f"the time limit of {SOFT_LIMIT} s is over"
    if isinstance(error, ModuleNotFoundError):
        return f"the image lacks the Python library {error.name}"
    name = type(error).__name__
    if name in ("OperationalError", "DatabaseError") and type(error).__module__ == "sqlite3":
        return f"{name}: {error}"  # SQLite's texts are fixed
    if type(error).__module__ == "builtins" and isinstance(error, OSError) and error.errno:
        return f"{name}: {os.strerror(error.errno)}"
    code = getattr(error, "pgcode", None) or getattr(error, "sqlstate", None)
    return f"{name} {code}" if code else name


def option(name):
    """The value of an option of the command line. Others are passed over: an operator may know more of them."""
    return dict(zip(sys.argv[1:], sys.argv[2:])).get(name, "")


def run():
    """Does the work on the registry, then on what providers keep beside it."""
    directory = os.path.dirname(os.path.abspath(__file__))
    text, facts = startup_config.release(os.path.join(directory, "releases.json"))
    config = startup_config.Config(option("--config"), facts)
    place = config.registry_place()
    for _ in range(20):
        store = startup_stores.open_store(place, facts)
        try:
            registry = startup_steps.Registry(store, place, facts, say)
            if registry.preflight():
                return
            startup_adoption.adopt(registry, config, option("--earlier"))
            startup_steps.reconcile(registry, config, text)
            registry.commit()
            break
        except startup_stores.Changed:
            say("another pod changed the registry meanwhile: once more")
        finally:
            store.close()
    else:
        raise startup_config.Refused("other pods kept changing the registry")
    say(f"in line: {len(config.declared)} declared, {len(registry.entries)} kept; {place.kind}, release {text}")
    startup_adoption.carry(registry, config, lambda name, error: say(f"not carried over to {name}: {explain(error)}"))


def work():
    """Runs with the soft limit, and never fails."""
    def late(*_):
        raise TimeLimit

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SOFT_LIMIT)
    begin = time.monotonic()
    try:
        run()
    except BaseException as error:
        say(f"left as it is: {explain(error)}")
    signal.setitimer(signal.ITIMER_REAL, 0)
    say(f"took {time.monotonic() - begin:.2f} s")


def main():
    """Watches over a child that does the work, because a library may hang where no signal reaches it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        try:
            work()
        finally:
            sys.stdout.flush()
            os._exit(0)
    if signal.sigtimedwait([signal.SIGCHLD], HARD_LIMIT) is None:
        os.kill(child, signal.SIGKILL)
        say(f"ended after {HARD_LIMIT} s: a library hung")
    os.waitpid(child, 0)


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(0)
