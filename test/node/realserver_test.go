//go:build node

package node

// realRelease is the release of the real server.
const realRelease = "0.7.3"
