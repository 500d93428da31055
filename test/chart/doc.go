// Package chart tests the Helm chart with Helm's own packages: what it renders, what its schema refuses, and that the
// definition, the policy and the rules in it are those of config/. What it does on an API server is shown by
// test/installed. It is a module of its own, so that nothing of Helm gets into the product's go.mod; its tool directive
// is the helm of `make test`.
package chart
