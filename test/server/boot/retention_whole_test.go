//go:build server && retention

package boot

// wholeRetention reports that everything is tried, as make test-retention asks for.
const wholeRetention = true
