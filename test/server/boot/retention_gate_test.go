//go:build server && !retention

package boot

// wholeRetention is false where the tests run among others, with only the cases that the gate has the time for.
const wholeRetention = false
