// Package startup holds what runs in a pod before the server starts: programs in Python, for the image's own Python. One
// brings the server's registry in line with the configuration, the other installs external providers. Files and
// ExternalFiles return them with the facts by release line that they need. The programs know no release: releases.json is
// made of the release data.
package startup
