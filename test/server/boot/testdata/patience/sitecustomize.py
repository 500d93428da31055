"""Makes uvicorn wait for its worker processes as long as the test waits.

uvicorn stops a worker that does not answer within five seconds. A worker first
imports the server, which takes three to four seconds of CPU time. The pod requests
one CPU for each worker, but this machine has fewer CPUs than the number of servers
that start on it at the same time. When Python starts, it imports a module with this
name from PYTHONPATH.
"""

from uvicorn.supervisors.multiprocess import Process

SECONDS = 120

asked_once = Process.is_alive


def is_alive(self: Process, timeout: float = SECONDS) -> bool:
    """Checks the worker every second, so that the result is available immediately if the worker exits."""
    return any(asked_once(self, 1) for _ in range(SECONDS))


Process.is_alive = is_alive
