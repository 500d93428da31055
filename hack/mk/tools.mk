##@ Tools and clusters

.PHONY: clean
clean: ## Remove the files that the targets built in this work tree
	@rm -rf $(CACHE) bin dist schemas charts/*/files docs/reference/providers docs/reference/v1alpha?.md

.PHONY: measure
measure: ## Print the length of the product's packages, files and functions
	@$(GO) run ./test/architecture/measure

.PHONY: cluster-up
cluster-up: cluster-tool $(if $(NODE),node-packages) ## Start a control plane, and print the line that exports its KUBECONFIG [NODE=1: with a node, as root]
	@$(BIN)/cluster up $(if $(NODE),--node)

.PHONY: cluster-down
cluster-down: cluster-tool ## Stop the control plane and remove its files
	@$(BIN)/cluster down

.PHONY: node-packages
node-packages:
	@hack/server-env --find-python >/dev/null
	@hack/node-packages

# The cluster tool is built and not started with `go run`, because `go run` does not forward signals, and the tool must
# stop the processes that it started.
.PHONY: cluster-tool
cluster-tool:
	@$(GO) build -C test/cluster -o $(abspath $(BIN))/cluster .

# The suffix of each TOOL_ variable is the name of the tool's file in .cache/bin. The value is the tool's package in
# hack/tools/go.mod. The others have a version instead, because the linter and the tools of a release need hundreds of
# modules, which would otherwise decide the versions of the other tools, and krew needs old ones.

LINT_MODULES := . $(TEST_MODULES)

TOOL_actionlint := github.com/rhysd/actionlint/cmd/actionlint
TOOL_benchstat := golang.org/x/perf/cmd/benchstat
TOOL_controller-gen := sigs.k8s.io/controller-tools/cmd/controller-gen
TOOL_crd-ref-docs := github.com/elastic/crd-ref-docs
TOOL_gofumpt := mvdan.cc/gofumpt
TOOL_gotestsum := gotest.tools/gotestsum
TOOL_kustomize := sigs.k8s.io/kustomize/kustomize/v5
TOOL_golangci-lint := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
TOOL_krew := sigs.k8s.io/krew/cmd/krew@v0.4.3
TOOL_cosign := github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3
TOOL_crane := github.com/google/go-containerregistry/cmd/crane@v0.22.1
TOOL_ko := github.com/google/ko@v0.19.1

VERSIONED_TOOLS := golangci-lint krew cosign crane ko
TOOLS := $(filter-out $(VERSIONED_TOOLS),$(patsubst TOOL_%,%,$(filter TOOL_%,$(.VARIABLES))))

$(addprefix $(BIN)/,$(TOOLS)): $(BIN)/%: hack/tools/go.mod hack/tools/go.sum
	@echo "building the tool $*"
	@GOBIN=$(abspath $(BIN)) $(GO) install -C hack/tools -trimpath $(TOOL_$*)
	@touch $@

# Helm is in the module of the chart tests, because these tests use its packages.
$(BIN)/helm: test/chart/go.mod test/chart/go.sum
	@echo "building the tool helm"
	@$(GO) build -C test/chart -o $(abspath $@) helm.sh/helm/v4/cmd/helm
	@touch $@

$(addprefix $(BIN)/,$(VERSIONED_TOOLS)): $(BIN)/%: hack/mk/tools.mk
	@echo "building the tool $* (the larger ones take some minutes, only once)"
	@GOBIN=$(abspath $(BIN)) $(GO) install -trimpath $(TOOL_$*)
	@touch $@
