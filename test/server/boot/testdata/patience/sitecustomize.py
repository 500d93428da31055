"""Lets uvicorn wait for its worker processes for as long as the test does.

It ends a worker that has not answered for five seconds, and a worker imports the
server first, which takes three to four seconds of a processor. The pod requests a
processor for each worker; this machine has fewer than the servers that boot on it at
once. Python imports a module of this name, found in PYTHONPATH, when it starts.
"""

from uvicorn.supervisors.multiprocess import Process

SECONDS = 120

asked_once = Process.is_alive


def is_alive(self: Process, timeout: float = SECONDS) -> bool:
    """Asks every second, so that a worker that ends meanwhile is missed at once."""
    return any(asked_once(self, 1) for _ in range(SECONDS))


Process.is_alive = is_alive
