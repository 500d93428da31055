"""Finds the keys that hold credentials."""

import re

_CREDENTIAL = re.compile(
    r"(^|_)(api_?keys?|api_?token|access_?token|session_token|auth_credential|password|passphrase|client_secret"
    r"|secret(_access)?_key|access_key_id|bearer_token\w*|conn(ection)?_str(ing)?)$|^token$|_secret$",
    re.IGNORECASE,
)


def is_secret(name: str, type_text: str) -> bool:
    """Returns whether a key holds a credential, according to its type or its name."""
    members = [member.strip() for member in type_text.split("|")]
    if "SecretStr" in members:
        return True
    return ("str" in members or "list[str]" in members) and bool(_CREDENTIAL.search(name))
