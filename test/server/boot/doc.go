// Package boot tests whole stacks with the real Llama Stack server. It boots the configuration that the operator
// generates for an object with the released Python package of every release line, with the server's own command and
// with the environment of the pod. Then it checks that the running server matches the object. A fake model server
// replaces vLLM and OpenAI. PostgreSQL and Redis are real.
//
// The test has the build tag server, because it installs Python packages into the user's cache directory. Run it with
// make test-server. The variable RELEASES names the lines to boot: "0.3 1.5", or all. Without it, the tests boot the
// lines that realserver.Releases returns.
package boot
