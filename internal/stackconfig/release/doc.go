// Package release holds the facts about server releases as data: which APIs, provider types, configuration keys,
// storage and resources a release knows, how it is started, and which distributions it ships. Code elsewhere never asks
// which release it deals with; it asks this data.
//
// There is one data file per release line (data/0.7.json), written by the extraction tool in hack/release-data from the
// server's own package. What the package cannot tell stands in overlays, each correction with its reason and the test that
// shows it: shared.overlay.yaml for what is true of several lines, registry.overlay.yaml for what only the script
// before the server's start needs of them, data/0.7.overlay.yaml for what is true of one. What came and went is in
// history.yaml. Files are embedded, and those of a line are parsed once, when it is first asked for. The
// returned values are shared: treat them as read-only. testdata/facts shows, a file a line, what comes out of it.
package release
