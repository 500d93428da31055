// Package release holds the facts about server releases as data: which APIs, provider types, configuration keys,
// storage and resources a release knows, how it is started, and which distributions it ships. Code elsewhere never asks
// which release it deals with; it asks this data.
//
// There is one data file per release line (data/0.7.json), written by the extraction tool in hack/release-data from the
// server's own package, and one overlay per line (data/0.7.overlay.yaml) with what the package cannot tell: each
// correction there carries its reason and the test or observation that shows it. Files are embedded and parsed once, when
// first asked for. The returned values are shared: treat them as read-only.
package release
