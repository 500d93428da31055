"""Reads what one installed Llama Stack (OGX) server release knows and writes it as release data.

Run it with the interpreter of an environment that holds the release:

    python -m releasedata > 0.7.json

Nothing is started and nothing is fetched: the release's own configuration classes are imported and described. One
module holds one idea; `document` puts the parts together.
"""
