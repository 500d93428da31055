// Package startup contains the programs that run in a pod before the server starts. They are written in Python, and the
// Python of the image runs them. One program updates the server's registry to match the configuration, and the other
// installs external providers. Files and ExternalFiles return the programs together with the facts by release line that
// they need. The programs contain no facts about releases: releases.json is generated from the release data (decision
// 0010).
package startup
