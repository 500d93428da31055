// Package release holds the facts about server releases as data: the APIs, provider types, configuration keys, storage
// and resources of a release, how it is started, and which distributions it ships. Other code never checks for a
// release by name (server fact 1, decision 0005), but uses this data.
//
// There is one data file per release line (data/0.7.json), written by the extraction tool in hack/release-data from the
// server's own package. Facts that the server's package does not contain are in overlays. Each correction in an overlay
// states the reason, and the test that proves the fact. The file data/0.7.overlay.yaml has the facts of one line, and
// shared.overlay.yaml has the facts of several lines. The file registry.overlay.yaml has the facts of several lines
// that only the script that runs before the server starts needs. history.yaml lists what was added and removed. The
// files are embedded, and the files of a line are parsed once, on first use. The returned values are shared: treat them
// as read-only. testdata/facts contains the result, one file per line.
package release
