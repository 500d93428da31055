// Package release holds the facts about server releases as data: the APIs, provider types, configuration keys, storage
// and resources of a release, how the server is started, and which distributions the release ships. Other code uses
// this data, and never checks for a release by name (server fact 1).
//
// The sources of the data are in the directory data. There is one file per release line (data/0.7.json), written by the
// extraction tool in hack/release-data from the server's own package. A file such as data/0.2.remote-vllm.json contains
// a distribution that only earlier releases of its line ship. Facts that the server's package does not contain are in
// overlays. Each correction in an overlay states the reason, and names the test that proves the fact. Each line has its
// own overlay, for example data/0.7.overlay.yaml, and shared.overlay.yaml contains facts about several lines. The files
// registry.overlay.yaml, checks.overlay.yaml and offline.overlay.yaml also contain facts about several lines, but these
// facts do not affect any configuration. The file history.yaml contains the default line, the lines that users may
// request, the APIs of all releases and the removed parts.
//
// `make generate` applies the overlays and writes data.zip.zst, which is embedded, with one file per release line. The file
// of a line is decoded once, on first use. The returned values are shared: treat them as read-only. testdata/facts
// contains the facts that come from rules and overlays: those of the first line, and the changes in each other line.
package release
