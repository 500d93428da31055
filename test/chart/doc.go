// Package chart tests the Helm chart with Helm's own packages. It checks the objects that the chart renders and the
// values that its schema rejects. It also checks that the definition and the policy in the chart are the same as in
// config/. The package test/installed tests the effect of the chart on an API server. Package chart is a separate
// module, so that the product's go.mod does not depend on Helm. The tool directive in its go.mod provides the helm
// command for `make test`.
package chart
