//go:build server && retention

package boot

// wholeRetention means that everything is tried, as in make test-retention.
const wholeRetention = true
