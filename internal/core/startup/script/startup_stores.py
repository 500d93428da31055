"""The stores that may contain the registry. Keys are whole keys, with their namespace.

All stores have the same methods. Reading and applying is one transaction. Redis raises Changed if another program wrote the
list in between. A value that is too long for an entry is read as None.
"""

import contextlib
import importlib
import os
import re
import sqlite3

from startup_config import Refused

WAIT = 10  # seconds to wait for a lock or an answer, less than the time limit
MAX_ROWS = 100_000
MAX_VALUE = 4 << 20
CHUNK = 500


class Changed(Exception):
    """Another program changed the values that were read."""


def unreachable(error):
    """Reports whether a server cannot be reached. Its answers have codes."""
    if getattr(error, "pgcode", None) or type(error).__module__ == "sqlite3":
        return False
    return isinstance(error, ConnectionError) or type(error).__name__ in ("ConnectionError", "OperationalError")


def open_store(place, facts):
    """Opens the store of a place with a library of the image or, without one, with the server's own classes."""
    kind, settings = place.kind, place.settings
    try:
        if kind == "kv_sqlite":
            return Sqlite(str(settings.get("db_path") or ""))
        if kind == "kv_redis":
            return Redis(settings)
        if kind == "kv_postgres":
            return Postgres(settings, facts["expiration_type"])
    except ModuleNotFoundError:
        pass
    return Server(place, facts)


class Sqlite:
    """A file. Opening it for writing creates it, as in the server."""

    def __init__(self, path):
        if path in ("", ":memory:") or path.startswith("file:"):
            raise Refused("the registry is not in a file")
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        uri = "file:" + re.sub(r"[%?#]", lambda match: f"%{ord(match[0]):02x}", os.path.abspath(path)) + "?mode=rwc"
        self.db = sqlite3.connect(uri, uri=True, timeout=WAIT, isolation_level=None)
        self.db.text_factory = lambda text: text.decode("utf-8", "replace")
        try:
            self.db.execute("BEGIN IMMEDIATE")
            self.db.execute("CREATE TABLE IF NOT EXISTS kvstore (key TEXT PRIMARY KEY, value TEXT, expiration TIMESTAMP)")
        except sqlite3.Error:
            self.db.close()
            raise

    def guard(self, key):
        """The transaction guards all keys."""

    def get(self, key):
        row = self.db.execute("SELECT value FROM kvstore WHERE key = ? AND length(value) <= ?", (key, MAX_VALUE)).fetchone()
        return row[0] if row and isinstance(row[0], str) else None

    def keys(self, prefix):
        sql = "SELECT key FROM kvstore WHERE key >= ? AND key < ?"
        return [row[0] for row in self.db.execute(sql, (prefix, prefix + "\U0010ffff"))]

    def read(self, prefix):
        sql = ("SELECT key, CASE WHEN length(value) <= ? THEN value END FROM kvstore WHERE key >= ? AND key < ? LIMIT ?")
        rows = self.db.execute(sql, (MAX_VALUE, prefix, prefix + "\U0010ffff", MAX_ROWS))
        return {key: value if isinstance(value, str) else None for key, value in rows}

    def apply(self, drop, add, put):
        self.db.executemany("DELETE FROM kvstore WHERE key = ?", [(key,) for key in drop])
        for word, items in (("IGNORE", add), ("REPLACE", put)):
            self.db.executemany(f"INSERT OR {word} INTO kvstore (key, value) VALUES (?, ?)", list(items.items()))
        self.db.execute("COMMIT")

    def copy(self, keys, base):
        """Copies keys to a namespace, unless they exist there, as part of the transaction."""
        self.db.executemany("INSERT OR IGNORE INTO kvstore (key, value, expiration)"
                            " SELECT ? || key, value, expiration FROM kvstore WHERE key = ?", [(base, key) for key in keys])

    def close(self):
        self.db.close()  # rolls back changes that were not applied


class Postgres:
    """A table, accessed with psycopg2 or asyncpg."""

    def __init__(self, settings, expiration_type):
        self.table = str(settings["table_name"])
        if not re.fullmatch(r"[A-Za-z_][\w$.]*", self.table):
            raise Refused("table_name is not a valid name of a table")
        try:
            driver = importlib.import_module("psycopg2")
        except ModuleNotFoundError:
            self.connection = Asyncpg(settings)
        else:
            self.connection = Psycopg(driver, settings)
        self.run = self.connection.run
        self.run(f"SET LOCAL statement_timeout = {WAIT * 1000}")
        self.run("SELECT pg_advisory_xact_lock(hashtext(%s))", "llamastack.io:registry")
        self.run(f"CREATE TABLE IF NOT EXISTS {self.table}"
                 f" (key TEXT PRIMARY KEY, value TEXT, expiration {expiration_type})")

    def guard(self, key):
        """The lock guards all keys."""

    def get(self, key):
        rows = self.run(f"SELECT value FROM {self.table} WHERE key = %s AND octet_length(value) <= %s", key, MAX_VALUE)
        return rows[0][0] if rows else None

    def read(self, prefix):
        sql = (f"SELECT key, CASE WHEN octet_length(value) <= %s THEN value END FROM {self.table}"
               f" WHERE left(key, %s) = %s LIMIT {MAX_ROWS}")
        return {row[0]: row[1] for row in self.run(sql, MAX_VALUE, len(prefix), prefix)}

    def apply(self, drop, add, put):
        self.run(f"DELETE FROM {self.table} WHERE key = ANY(%s::text[])", list(drop))
        for word, items in (("NOTHING", add), ("UPDATE SET value = EXCLUDED.value", put)):
            self.run(f"INSERT INTO {self.table} (key, value) SELECT * FROM unnest(%s::text[], %s::text[])"
                     f" ON CONFLICT (key) DO {word}", list(items), list(items.values()))
        self.connection.commit()

    def close(self):
        self.connection.close()


class Psycopg:
    """A transaction with psycopg2, with the same connection as a server up to 0.8."""

    def __init__(self, driver, settings):
        parts = {"host": "host", "port": "port", "user": "user", "dbname": "db", "password": "password",
                 "sslmode": "ssl_mode", "sslrootcert": "ca_cert_path"}
        if settings.get("connection_string"):
            parts = {"dsn": "connection_string", "sslmode": "ssl_mode", "sslrootcert": "ca_cert_path"}
        given = {name: settings.get(key) for name, key in parts.items() if settings.get(key) is not None}
        self.db = driver.connect(connect_timeout=WAIT, **given)

    def run(self, sql, *values):
        with self.db.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall() if cursor.description else []

    def commit(self):
        self.db.commit()

    def close(self):
        self.db.close()


class Asyncpg:
    """A transaction with asyncpg, with the same connection as a server from 1.0 on."""

    def __init__(self, settings):
        import asyncio
        import ssl
        driver = importlib.import_module("asyncpg")
        given = {"dsn": settings.get("connection_string")}
        if not given["dsn"]:
            password = settings.get("password")
            given = {"host": settings.get("host") or "localhost", "port": int(settings.get("port") or 5432),
                     "user": settings.get("user"), "database": settings["db"],
                     "password": None if password is None else str(password)}
        mode, authority = settings.get("ssl_mode"), settings.get("ca_cert_path")
        if mode == "verify-full" and authority:
            given["ssl"] = ssl.create_default_context(cafile=authority)
        elif mode and mode != "disable":
            given["ssl"] = mode
        self.wait = asyncio.new_event_loop().run_until_complete
        self.db = self.wait(driver.connect(timeout=WAIT, command_timeout=WAIT, **given))
        self.transaction = self.db.transaction()
        self.wait(self.transaction.start())

    def run(self, sql, *values):
        for number in range(len(values)):
            sql = sql.replace("%s", f"${number + 1}", 1)
        return self.wait(self.db.fetch(sql, *values))

    def commit(self):
        self.wait(self.transaction.commit())

    def close(self):
        self.db.terminate()


class Redis:
    """A Redis, at the same address as in the server."""

    def __init__(self, settings):
        redis = importlib.import_module("redis")
        self.watch_error = redis.WatchError
        self.db = redis.Redis.from_url(
            f"redis://{settings.get('host', 'localhost')}:{settings.get('port', 6379)}", socket_timeout=WAIT,
            socket_connect_timeout=WAIT, decode_responses=True, encoding_errors="replace")
        self.pipe = self.db.pipeline()

    def guard(self, key):
        self.pipe.watch(key)

    def get(self, key):
        return self._values([key])[key]

    def _values(self, keys):
        """Returns the values of keys. Long values are not read."""
        asked = self.db.pipeline(transaction=False)
        for key in keys:
            asked.strlen(key)
        short = [key for key, size in zip(keys, asked.execute(raise_on_error=False))
                 if isinstance(size, int) and size <= MAX_VALUE]
        return {**dict.fromkeys(keys), **(dict(zip(short, self.db.mget(short))) if short else {})}

    def keys(self, prefix):
        found = []
        for key in self.db.scan_iter(match=re.sub(r"([\[\]*?\\])", r"\\\1", prefix) + "*", count=1000):
            found.append(key)
            if len(found) == MAX_ROWS:
                break
        return sorted(set(found))

    def read(self, prefix):
        keys, found = self.keys(prefix), {}
        for begin in range(0, len(keys), CHUNK):
            found.update(self._values(keys[begin:begin + CHUNK]))
        return found

    def apply(self, drop, add, put):
        self.pipe.multi()
        drop = list(drop)
        for begin in range(0, len(drop), CHUNK):
            self.pipe.delete(*drop[begin:begin + CHUNK])
        for key, value in add.items():
            self.pipe.set(key, value, nx=True)
        for key, value in put.items():
            self.pipe.set(key, value)
        try:
            self.pipe.execute()
        except self.watch_error:
            raise Changed from None

    def close(self):
        self.db.close()


class Server:
    """Any other backend, accessed with the server's own classes, which read only entries of the registry."""

    def __init__(self, place, facts):
        import asyncio
        self.wait = asyncio.new_event_loop().run_until_complete
        self.backend, self.prefix, self.opened = place.backend, facts["key_prefix"], {}
        with silence():
            self.types = importlib.import_module(facts["module"] + ".core.storage.datatypes")
            try:
                self.module = importlib.import_module(facts["module"] + ".core.storage.kvstore.kvstore")
            except ModuleNotFoundError:
                self.module = importlib.import_module(facts["module"] + ".providers.utils.kvstore.kvstore")
            adapter = importlib.import_module("pydantic").TypeAdapter(self.types.StorageBackendConfig)
            self.module.register_kvstore_backends({place.backend: adapter.validate_python(place.settings)})
            self._store(place.namespace)

    def _store(self, namespace):
        if namespace not in self.opened:
            reference = self.types.KVStoreReference(namespace=namespace, backend=self.backend)
            self.opened[namespace] = self.wait(self.module.kvstore_impl(reference))
        return self.opened[namespace]

    def _split(self, key):
        """Returns the store of a whole key, and the key in the store. The longest open namespace matches."""
        namespace = max((name for name in self.opened if key.startswith(name + ":")), key=len)
        return self.opened[namespace], key[len(namespace) + 1:]

    def guard(self, key):
        """These classes have no transactions."""

    def get(self, key):
        store, rest = self._split(key)
        value = self.wait(store.get(rest))
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def read(self, prefix):
        """Returns the entries with a prefix. The value of an entry determines its key."""
        import json
        found = {}
        store = self._store(prefix.removesuffix(":" + self.prefix))
        for value in self.wait(store.values_in_range(self.prefix, self.prefix + "\xff"))[:MAX_ROWS]:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                entry = json.loads(value)
                found[f"{prefix}{entry['type']}:{entry['identifier']}"] = value
        return found

    def apply(self, drop, add, put):
        for key in drop:
            store, rest = self._split(key)
            self.wait(store.delete(rest))
        for key, value in {**add, **put}.items():
            store, rest = self._split(key)
            self.wait(store.set(rest, value))

    def close(self):
        with contextlib.suppress(Exception):
            for store in self.opened.values():
                self.wait(store.shutdown())


@contextlib.contextmanager
def silence():
    """Suppresses the output of the server's modules, which may contain a password."""
    kept = [os.dup(1), os.dup(2)]
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        yield
    finally:
        for number, copy in enumerate(kept, start=1):
            os.dup2(copy, number)
            os.close(copy)
        os.close(nothing)
