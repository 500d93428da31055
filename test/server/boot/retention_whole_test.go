//go:build server && retention

package boot

// wholeRetention is true if all cases run, as with `make test-retention`.
const wholeRetention = true
