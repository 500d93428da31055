// Package verdict keeps the verdicts of real servers in the user's cache directory, so that later test runs ask a
// server only what changed. A verdict is kept under a key: the digest of everything that the verdict depends on. The
// caller lists these parts, and keeps only verdicts that are a function of them, such as no time limits.
//
// Each file contains the verdicts for one combination of fixed parts, for example of one Python environment. A new
// combination has a new file, and only the newest few files of a name remain. If the environment variable VERDICTS is
// "fresh", no kept verdict is used, and every server is asked again.
package verdict
