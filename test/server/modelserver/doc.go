// Package modelserver replaces a model server, such as vLLM. It implements the part of the OpenAI API that inference
// providers need. The tests in test/server/boot use it in their process, and test/node/standin in a pod.
package modelserver
