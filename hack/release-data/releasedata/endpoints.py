"""Finds the keys of a provider for the endpoint, the credential and the region.

The functions use only the rows of a class. Their results are correct for nearly all providers, and overlays correct the
other results.
"""

import urllib.parse
from typing import Any

type Row = dict[str, Any]

# The preferred names come first. A name that only ends in _url is used if no other key has such a name.
_ENDPOINTS = ("base_url", "url", "uri", "endpoint_url", "openai_compat_api_base", "api_base", "host")
_CREDENTIALS = ("api_key", "api_token", "access_token", "password", "token")
_REGIONS = ("region_name", "region", "oci_region")


def endpoint_key(keys: list[Row]) -> str:
    """Returns the key for the endpoint, or an empty string."""
    names = [key["name"] for key in keys]
    for name in _ENDPOINTS:
        if name in names:
            return name
    urls = [name for name in names if name.endswith("_url")]
    return urls[0] if len(urls) == 1 else ""


def endpoint_path(api: str, keys: list[Row]) -> str:
    """Returns the path for an endpoint without a path: the path of the provider's public default (`/v1`)."""
    if api != "inference":
        return ""
    default = next((key.get("default") for key in keys if key["name"] == endpoint_key(keys)), None)
    return urllib.parse.urlsplit(default).path.rstrip("/") if isinstance(default, str) else ""


def port_key(keys: list[Row]) -> str:
    """Returns the key for the port if the endpoint is a host name and not a URL, or an empty string."""
    names = {key["name"] for key in keys}
    return "port" if endpoint_key(keys) == "host" and "port" in names else ""


def credential_key(keys: list[Row]) -> str:
    """Returns the key for the API key or password, or an empty string."""
    names = [key["name"] for key in keys if key.get("secret") and not key.get("internal")]
    for name in _CREDENTIALS:
        if name in names:
            return name
    api_keys = [name for name in names if name.endswith("_api_key")]
    return api_keys[0] if len(api_keys) == 1 else ""


def region_key(keys: list[Row]) -> str:
    """Returns the key for a cloud region, or an empty string."""
    names = {key["name"] for key in keys}
    return next((name for name in _REGIONS if name in names), "")
