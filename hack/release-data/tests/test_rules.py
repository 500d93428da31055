"""Tests the rules that derive facts from the keys of a provider."""

import unittest
from typing import Any

from releasedata import apis, defaults, endpoints, resources, secrets, storage

REFERENCE = {
    "KVStoreReference": {
        "keys": [
            {"name": "namespace", "type": "str", "required": True},
            {"name": "backend", "type": "str", "required": True},
        ]
    },
    "SqlStoreReference": {
        "keys": [
            {"name": "table_name", "type": "str", "required": True},
            {"name": "backend", "type": "str", "required": True},
        ]
    },
    "Persistence": {
        "keys": [
            {"name": "agent_state", "type": "KVStoreReference", "required": True},
            {"name": "responses", "type": "SqlStoreReference", "required": True},
            {"name": "cache", "type": "str", "default": "x"},
        ]
    },
    "RedisConfig": {"keys": [{"name": "type", "type": "literal[redis]", "default": "redis"}]},
    "SqliteConfig": {
        "keys": [{"name": "type", "type": "literal[sqlite]", "default": "sqlite"}, {"name": "db_path", "type": "str"}]
    },
    "Account": {"keys": [{"name": "user", "type": "str", "required": True}]},
}


def named(*names: str, **more: Any) -> list[dict[str, Any]]:
    return [{"name": name, **more} for name in names]


class EndpointTest(unittest.TestCase):
    def test_key(self) -> None:
        for names, want in (
            (("api_key", "base_url"), "base_url"),
            (("url", "base_url"), "base_url"),
            (("host", "port", "url"), "url"),
            (("uri", "token"), "uri"),
            (("weaviate_cluster_url",), "weaviate_cluster_url"),
            (("a_url", "b_url"), ""),
            (("rerank_model_to_url_map",), ""),
            (("api_key",), ""),
            ((), ""),
        ):
            with self.subTest(names):
                self.assertEqual(endpoints.endpoint_key(named(*names)), want)

    def test_the_path_is_the_path_of_the_public_default(self) -> None:
        for default, want in (
            ("https://api.openai.com/v1", "/v1"),
            ("https://api.groq.com/openai/v1/", "/openai/v1"),
            ("https://us-south.ml.cloud.ibm.com", ""),
            (None, ""),
        ):
            with self.subTest(default):
                keys = [{"name": "base_url", "default": default}]
                self.assertEqual(endpoints.endpoint_path("inference", keys), want)
                self.assertEqual(endpoints.endpoint_path("safety", keys), "")

    def test_port(self) -> None:
        self.assertEqual(endpoints.port_key(named("host", "port")), "port")
        self.assertEqual(endpoints.port_key(named("url", "host", "port")), "")
        self.assertEqual(endpoints.port_key(named("host")), "")

    def test_credential(self) -> None:
        for names, want in (
            (("api_token",), "api_token"),
            (("password", "api_key"), "api_key"),
            (("weaviate_api_key",), "weaviate_api_key"),
            (("a_api_key", "b_api_key"), ""),
            (("aws_access_key_id", "aws_secret_access_key"), ""),
        ):
            with self.subTest(names):
                self.assertEqual(endpoints.credential_key(named(*names, secret=True)), want)
        self.assertEqual(endpoints.credential_key(named("api_key")), "", "a key that is not secret")
        self.assertEqual(endpoints.credential_key(named("api_key", secret=True, internal=True)), "")

    def test_region(self) -> None:
        self.assertEqual(endpoints.region_key(named("region", "region_name")), "region_name")
        self.assertEqual(endpoints.region_key(named("regional")), "")


class DefaultsTest(unittest.TestCase):
    def make(self, api: str, *keys: dict[str, Any], example: dict[str, Any] | None = None) -> dict[str, Any]:
        rows = defaults.required_defaults(api, list(keys), REFERENCE, example or {}, "~/.llama")
        return {row["key"]: row["value"] for row in rows}

    def test_only_store(self) -> None:
        key = {"name": "kvstore", "type": "KVStoreReference", "required": True}
        want = {"kvstore": {"namespace": "batches::{id}", "backend": "kv_default"}}
        self.assertEqual(self.make("batches", key), want)

    def test_a_store_that_may_be_null_has_a_default(self) -> None:
        key = {"name": "persistence", "type": "KVStoreReference | null", "default": None}
        want = {"persistence": {"namespace": "vector_io::{id}", "backend": "kv_default"}}
        self.assertEqual(self.make("vector_io", key), want)

    def test_a_store_of_metadata_has_a_default_only_if_required(self) -> None:
        key = {"name": "metadata_store", "type": "SqlStoreReference | null", "default": None}
        self.assertEqual(self.make("vector_io", key), {})
        want = {"metadata_store": {"table_name": "files_{table}_metadata", "backend": "sql_default"}}
        self.assertEqual(self.make("files", {"name": "metadata_store", "type": "SqlStoreReference", "required": True}), want)

    def test_a_whole_backend_gets_a_separate_file(self) -> None:
        for name, file in (("kvstore", "agents_{table}.db"), ("responses_store", "agents_{table}_responses_store.db")):
            with self.subTest(name):
                key = {"name": name, "type": "RedisConfig | SqliteConfig | null", "default": "sqlite"}
                path = f"${{env.SQLITE_STORE_DIR:=~/.llama/distributions/{{distribution}}}}/{file}"
                self.assertEqual(self.make("agents", key), {name: {"type": "sqlite", "db_path": path}})

    def test_stores_of_one_provider_differ(self) -> None:
        key = {"name": "persistence", "type": "Persistence", "required": True}
        want = {
            "agent_state": {"namespace": "responses::{id}::agent_state", "backend": "kv_default"},
            "responses": {"table_name": "responses_{table}", "backend": "sql_default"},
        }
        self.assertEqual(self.make("responses", key), {"persistence": want})

    def test_a_class_that_only_the_user_can_fill(self) -> None:
        self.assertEqual(self.make("x", {"name": "account", "type": "Account", "required": True}), {})

    def test_path_from_the_example(self) -> None:
        key = {"name": "db_path", "type": "str", "required": True}
        example = {"db_path": f"${{env.SQLITE_STORE_DIR:={defaults.DIRECTORY}}}/x.db"}
        want = {"db_path": "${env.SQLITE_STORE_DIR:=~/.llama/distributions/{distribution}}/x.db"}
        self.assertEqual(self.make("vector_io", key, example=example), want)

    def test_path_with_the_data_directory_twice(self) -> None:
        key = {"name": "path", "type": "str", "required": True}
        example = {"path": f"${{env.QDRANT_PATH:=~/.llama/{defaults.DIRECTORY}}}/qdrant.db"}
        want = {"path": "${env.QDRANT_PATH:=~/.llama/distributions/{distribution}}/qdrant.db"}
        self.assertEqual(self.make("vector_io", key, example=example), want)

    def test_no_default(self) -> None:
        key = {"name": "bucket_name", "type": "str", "required": True}
        self.assertEqual(self.make("files", key, example={"bucket_name": "${env.BUCKET}"}), {})
        bare = {"bucket_name": f"{defaults.DIRECTORY}/${{env.BUCKET}}"}
        self.assertEqual(self.make("files", key, example=bare), {})
        self.assertEqual(self.make("files", {"name": "region", "type": "str", "default": "x"}), {})

    def test_a_key_that_may_be_null_is_null(self) -> None:
        token = {"name": "token", "type": "str | null", "required": True}
        url = {"name": "url", "type": "str | null", "required": True}
        self.assertEqual(self.make("vector_io", token, url), {"token": None})


class SecretTest(unittest.TestCase):
    def test_by_type(self) -> None:
        self.assertTrue(secrets.is_secret("anything", "SecretStr | null"))

    def test_by_name(self) -> None:
        for name in (
            "api_key",
            "openai_api_key",
            "password",
            "ewallet_password",
            "client_secret",
            "token",
            "conn_str",
            "aws_access_key_id",
            "aws_secret_access_key",
            "connection_string",
            "aws_bearer_token_bedrock",
        ):
            with self.subTest(name):
                self.assertTrue(secrets.is_secret(name, "str | null"))

    def test_lists(self) -> None:
        self.assertTrue(secrets.is_secret("api_keys", "list[str]"))
        self.assertFalse(secrets.is_secret("allowed_models", "list[str] | null"))

    def test_not(self) -> None:
        for name in ("max_tokens", "token_uri", "client_id", "tokenizer", "key", "base_url", "send_secret_in_body"):
            with self.subTest(name):
                self.assertFalse(secrets.is_secret(name, "str | null"))
        self.assertFalse(secrets.is_secret("password", "int"))


class RowsTest(unittest.TestCase):
    def test_apis(self) -> None:
        got = apis.rows(
            ["inference", "files", "models", "prompts"], {"inference", "files"}, {"prompts"}, {"inference": "models"}
        )
        want = [
            {"name": "inference", "providable": True, "routing_table": "models"},
            {"name": "files", "providable": True, "needs_provider": True},
            {"name": "models", "router": "inference"},
            {"name": "prompts", "internal": True},
        ]
        self.assertEqual(got, want)

    def test_an_api_without_provider_that_is_skipped(self) -> None:
        got = apis.rows(["files"], {"files"}, set(), {}, skips=True)
        self.assertEqual(got, [{"name": "files", "providable": True}])

    def test_inline_stores(self) -> None:
        keys = [
            {"name": "models", "type": "list[ModelInput]"},
            {"name": "metadata_store", "type": "RedisKVStoreConfig | SqliteKVStoreConfig | null"},
            {"name": "inference_store", "type": "InferenceStoreConfig | SqliteSqlStoreConfig | null"},
        ]
        want = [
            {"name": "metadata", "key": "metadata_store", "family": "kv"},
            {"name": "inference", "key": "inference_store", "family": "sql"},
        ]
        self.assertEqual(storage.inline_stores(keys), want)

    def test_id_key(self) -> None:
        for kind, key in (("models", "model_id"), ("tool_groups", "toolgroup_id"), ("scoring_fns", "scoring_fn_id")):
            with self.subTest(kind):
                self.assertEqual(resources.id_key(kind, ["provider_id", key]), key)
        with self.assertRaisesRegex(ValueError, "no ID among the keys of models"):
            resources.id_key("models", ["provider_id"])
