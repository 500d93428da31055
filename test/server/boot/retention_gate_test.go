//go:build server && !retention

package boot

// wholeRetention is false without the build tag retention. In this case, the tests run only some of the cases, to limit
// their duration.
const wholeRetention = false
