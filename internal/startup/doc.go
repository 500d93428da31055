// Package startup contains the programs that run in a pod before the server starts. They are written in Python, for the
// Python of the image. One updates the server's registry to match the configuration, the other installs external
// providers. Files and ExternalFiles return the programs together with the facts by release line that they need. The
// programs contain no facts about releases: releases.json is generated from the release data (decision 0010).
package startup
