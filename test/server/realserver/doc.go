// Package realserver runs the real Llama Stack server of every release line for which there is data, on this machine.
// Install creates the Python environment of a release from its lock file, which it joins from the list of packages and
// the hashes in test/server/environment. In that environment, a Checker runs check.py, which reports whether the
// release's own code accepts a configuration. A check has one of three tiers. The tier Parse reads the configuration
// into the server's classes. The tier Initialize also starts the server's application. The tier Serve also sends
// requests to the application. Tests that install a release have the build tag server.
//
// A Checker keeps its verdicts, and Once keeps which test cases passed, with package verdict. A server is started again
// when a part of the key changes. The key of a verdict consists of the lock files of the release and of the tokenizer,
// the interpreter, check.py, the code of the Checker, the machine, and the whole Request. The key of a test case
// consists of the code that the test can run, the files next to it, the machine, and what the pipeline returns for the
// case. It also has the lock files, the interpreters and the data of the releases that the case names. So a change in a
// function starts only the servers of the tests that reach this function. Exits, time limits and failures are never
// kept.
package realserver
