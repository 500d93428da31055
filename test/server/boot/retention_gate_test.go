//go:build server && !retention

package boot

// wholeRetention is false if the tests run in the gate, which has time for only some of the cases.
const wholeRetention = false
