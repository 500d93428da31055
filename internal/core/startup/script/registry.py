"""Updates the server's registry to match its configuration, before the server starts.

    python registry.py --config FILE

The server stores registered resources, and does not start if an entry in the configuration differs from a stored entry. This
program removes the entries that the configuration declares, that an earlier configuration declared, and that providers
published. The server registers them again. The program never removes entries that clients registered. It always exits with
0. Its output contains no value of the environment and no text of an exception, which might contain a password.
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
    """Returns the time limit in seconds: LLS_REGISTRY_SECONDS, from 1 to 999, or 15."""
    text = os.environ.get("LLS_REGISTRY_SECONDS", "")
    return int(text) if re.fullmatch("[1-9][0-9]{0,2}", text) else 15


SOFT_LIMIT = _seconds()  # seconds until the work is rolled back
PATIENCE = 8  # seconds until a server must be reachable, as meshes start sidecars late
HARD_LIMIT = SOFT_LIMIT + 5  # seconds until the process is ended, if a library hangs


class TimeLimit(BaseException):
    """The soft limit is exceeded. This is not an Exception, so that libraries do not handle it."""


def say(text):
    """Prints an action on one line."""
    print("registry: " + re.sub(r"[^ -~]", "?", text[:2000]), flush=True)


def explain(error):
    """Returns the reason, without the text of an exception unless this text never contains values."""
    if isinstance(error, startup_config.Refused):
        return str(error)
    if isinstance(error, TimeLimit):
        return f"the time limit of {SOFT_LIMIT} s is exceeded"
    if isinstance(error, ModuleNotFoundError):
        return f"the image does not contain the Python library {error.name}"
    name = type(error).__name__
    if name in ("OperationalError", "DatabaseError") and type(error).__module__ == "sqlite3":
        return f"{name}: {error}"  # SQLite's texts are fixed
    if type(error).__module__ == "builtins" and isinstance(error, OSError) and error.errno:
        return f"{name}: {os.strerror(error.errno)}"
    code = getattr(error, "pgcode", None) or getattr(error, "sqlstate", None)
    return f"{name} {code}" if code else name


def option(name):
    """Returns the value of a command-line option. Unknown options are ignored, because a newer operator may set them."""
    return dict(zip(sys.argv[1:], sys.argv[2:])).get(name, "")


def find_moved(facts):
    """Makes the data directory available at the path that the pod sets, if a server has moved it. Removes nothing."""
    wanted = os.environ.get(facts["variable"], "") if facts else ""
    if not facts or os.path.basename(wanted) != facts["from"]:
        return
    moved = os.path.join(os.path.dirname(wanted), facts["to"])
    if os.path.islink(moved) or not os.path.isdir(moved):
        return
    if not os.path.lexists(wanted):
        os.symlink(facts["to"], wanted)
        say(f"an earlier server moved {facts['from']} to {facts['to']}: {facts['from']} is now a link to this directory")
    elif not os.path.islink(wanted):
        say(f"the server uses {facts['from']}, and not the files in {facts['to']} in the same directory")


def run():
    """Updates the registry, and then copies the data that providers store outside of it."""
    directory = os.path.dirname(os.path.abspath(__file__))
    text, facts = startup_config.release(os.path.join(directory, "releases.json"))
    try:
        find_moved(facts["moved"])
    except OSError as error:
        say(f"the directory {facts['moved']['to']} is not used: {explain(error)}")
    config = startup_config.Config(option("--config"), facts)
    place = config.registry_place()
    begin = time.monotonic()
    for _ in range(20):
        store = None
        try:
            store = startup_stores.open_store(place, facts)
            registry = startup_steps.Registry(store, place, facts, say)
            if registry.preflight():
                return
            startup_adoption.adopt(registry, config)
            startup_steps.reconcile(registry, config, text)
            registry.commit()
            break
        except startup_stores.Changed:
            say("another pod changed the registry: trying again")
        except Exception as error:
            if time.monotonic() - begin > PATIENCE or not startup_stores.unreachable(error):
                raise
            time.sleep(1)
        finally:
            if store:
                store.close()
    else:
        raise startup_config.Refused("other pods kept changing the registry")
    say(f"in line: {len(config.declared)} declared, {len(registry.entries)} kept; {place.kind}, release {text}")
    startup_adoption.carry(registry, config, lambda name, error: say(f"not copied to {name}: {explain(error)}"))


def work():
    """Runs the program with the soft limit, and never fails."""
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
        say(f"not changed: {explain(error)}")
    signal.setitimer(signal.ITIMER_REAL, 0)
    say(f"took {time.monotonic() - begin:.2f} s")


def main():
    """Runs the program in a child process and ends it at the hard limit, because a library may block signals."""
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
        say(f"ended after {HARD_LIMIT} s: a library did not respond")
    os.waitpid(child, 0)


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(0)
