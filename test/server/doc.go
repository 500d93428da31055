// Package server is the test against the real Llama Stack server: the
// configurations that the operator generates for the samples are booted with
// the released Python package, through its own command line and with the
// environment that the operator would give the pod, and the running server is
// asked whether it does what the object wanted. A fake model server stands in
// for vLLM and OpenAI, PostgreSQL is a real one.
//
// The test has the build tag server, because it installs Python packages into
// the user's cache directory: make test-server runs it.
package server
