//go:build server && !retention

package boot

// wholeRetention is false if the tests run in the gate, where the time allows only some of the cases.
const wholeRetention = false
