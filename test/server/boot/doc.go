// Package boot tests whole stacks with the real Llama Stack server. It starts the released Python package of each
// release line with the configuration that the operator generates for an object, with the server's own command, and
// with the environment of the pod. Then it checks that the running server matches the object. A fake model server
// replaces vLLM and OpenAI. PostgreSQL and Redis are real.
//
// The tests have the build tag server, because they install Python packages into the user's cache directory. Run them
// with `make test-server`. The variable RELEASES lists the lines to start, such as "0.3 1.5", or "all". If it is not
// set, the tests start the lines that realserver.Releases returns.
//
// A test case first runs the pipeline for a place without servers. If the same case passed before with the same input,
// the case does not start a server; see realserver.Once.
package boot
