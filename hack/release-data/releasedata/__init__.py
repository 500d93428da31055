"""Describes an installed release of the Llama Stack (OGX) server and writes the description as release data.

Run it with the interpreter of an environment that contains the release:

    python -m releasedata > 0.7.json

It imports and describes the configuration classes of the release. It starts no server and sends no requests. Each
module describes one part, and `document` combines the parts.
"""
