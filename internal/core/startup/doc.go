// Package startup contains the programs that run in a pod before the server starts. They are written in Python, and run
// with the Python interpreter in the image. One program updates the server's registry to match the configuration, and
// the other installs external providers. Files and ExternalFiles return the programs together with the facts that the
// programs need for each release line. The programs contain no facts about releases. hack/release-data writes
// the file releases.json from the release data (decision 0010).
package startup
