//go:build server && !retention

package boot

// wholeRetention is false where the tests run among others: they try what the gate has the time for.
const wholeRetention = false
