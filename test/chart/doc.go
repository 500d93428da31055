// Package chart tests the Helm chart with Helm's own packages: what it renders, what its schema rejects, and that its
// definition, policy and rules are those of config/. test/installed shows its effect on an API server. The package is a
// separate module, so that nothing of Helm gets into the product's go.mod; its tool directive is the helm of `make
// test`.
package chart
