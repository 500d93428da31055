// Package boot tests whole stacks against the real Llama Stack server. It boots what the operator makes of an object
// with the released Python package of every release line, through the server's own command line and with the
// environment of the pod. Then it checks that the running server does what the object specifies. A fake model server
// replaces vLLM and OpenAI; PostgreSQL and Redis are real ones.
//
// The test has the build tag server, because it installs Python packages into the user's cache directory. Run it with
// make test-server. The variable RELEASES names the lines to boot: "0.3 1.5", or all. realserver.Releases returns the
// lines that are booted without it.
package boot
