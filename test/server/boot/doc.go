// Package boot is the test of whole stacks against the real Llama Stack server:
// what the operator makes of an object is booted with the released Python package
// of every release line, through the server's own command line and with the
// environment that the operator would give the pod, and the running server is
// asked whether it does what the object wanted. A fake model server stands in for
// vLLM and OpenAI; PostgreSQL and Redis are real ones.
//
// The test has the build tag server, because it installs Python packages into
// the user's cache directory: make test-server runs it. The variable RELEASES
// names the lines to boot: "0.3 1.5", or all; realserver.Releases says which are
// booted without it.
package boot
