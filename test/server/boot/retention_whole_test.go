//go:build server && retention

package boot

// wholeRetention means that all cases run, as in make test-retention.
const wholeRetention = true
