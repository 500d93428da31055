# `make help` lists the targets that people use. The other targets are in hack/mk, and `make help ALL=1` lists them, too.
# Most targets need only Go, git and make. They build tools from hack/tools/go.mod into .cache/bin, and put a control
# plane into your cache directory: a published release, or a build from Go modules (test/cluster/README.md).

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-print-directory --no-builtin-rules

GO ?= go
# Without paths in the binaries, the build cache serves every checkout of this repository.
export GOFLAGS ?= -trimpath
# Without cgo, the operator, its tests and the API server share packages in the build cache. Only the race detector
# needs cgo.
export CGO_ENABLED := 0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
CACHE := .cache
BIN := $(CACHE)/bin

comma := ,
empty :=
space := $(empty) $(empty)
joined = $(subst $(space),$(comma),$(strip $(1)))

# If KUBEBUILDER_ASSETS is set, `cluster assets` prints its value.
ASSETS = KUBEBUILDER_ASSETS="$$($(BIN)/cluster assets)"

include $(patsubst %,hack/mk/%.mk,test bench generate release site tools)

##@ Everyday

.PHONY: help
help: ## List the targets [ALL=1: also those in hack/mk]
	@awk 'BEGIN { FS = ":.*## "; print "Usage: make TARGET [VARIABLE=value]" } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z0-9-]*:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(if $(ALL),$(MAKEFILE_LIST),Makefile)

.PHONY: build
build: ## Build the operator and the CLI with its completion program into bin/
	@mkdir -p bin
	@for program in $(notdir $(wildcard cmd/*)); do \
		echo "building bin/$$program"; \
		$(GO) build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/$$program ./cmd/$$program; \
	done
	@cp hack/kubectl_complete-llamastack bin/

IMAGE ?= llama-stack-k8s-operator:dev
CONTAINER_TOOL ?= docker

.PHONY: image
image: ## Build the image of the operator from the Dockerfile [IMAGE=llama-stack-k8s-operator:dev, CONTAINER_TOOL=docker or podman, PUSH=1: push it, too]
	@$(CONTAINER_TOOL) build --build-arg VERSION=$(VERSION) --build-arg REVISION=$$(git rev-parse HEAD) --tag $(IMAGE) .
	@$(if $(PUSH),$(CONTAINER_TOOL) push $(IMAGE))

.PHONY: install
install: ## Install the operator from this checkout into your cluster [IMAGE=llama-stack-k8s-operator:dev, OVERLAY=openshift, namespaced or cert-manager]
	@kubectl kustomize config/$(if $(OVERLAY),overlays/$(OVERLAY),default) | \
		sed 's|image: llama-stack-k8s-operator:dev$$|image: $(IMAGE)|' | kubectl apply --server-side --filename=-

.PHONY: demo
demo: ## Show what the operator makes of a stack, and run both on a control plane [NODE=1: in pods, with an answer of a model; as root]
	@hack/demo check $(if $(NODE),node)
	@GOGC=400 $(GO) run ./hack/explain config/samples/v1alpha2-simple.yaml $(CACHE)/demo/config.yaml
	@$(MAKE) --no-print-directory cluster-tool $(if $(NODE),node-packages)
	@$(BIN)/cluster run $(if $(NODE),--node,--with=) -- hack/demo

# The tests of each package run once: with coverage for the pure packages, with the race detector for packages with
# goroutines, and otherwise as they are. Only the pure packages always use a core. The others wait for an API server
# much of the time, so four of them at the same time fill two cores. `go build` compiles with all cores, and
# `go test -p=1` does not.
.PHONY: test
test: cluster-tool $(BIN)/gotestsum $(BIN)/helm chart manifests reference ## Run all Go tests that need neither a Llama Stack server nor a node, on a real API server, and measure the coverage of the pure packages (if there is a C compiler, packages with goroutines run under the race detector)
	@export $(ASSETS); mkdir -p $(CACHE)/test; race="$(RACE_FLAG)"; status=0; \
	[ -n "$$race" ] || echo "There is no C compiler: the packages with goroutines are tested without the race detector."; \
	MIN_COVERAGE=$(MIN_COVERAGE) hack/test test-unit $(COVERED) || status=1; \
	CGO_ENABLED=$${race:+1} GOGC=400 $(GO) build $$race $(RACE) $(PARTLY_RACE); \
	MODULES="$(TEST_MODULES)" hack/test test -p=2 -parallel=4 -timeout=30m $(OTHERS) \
		-- -p=1 -timeout=30m -skip='$(RACE_TESTS)' $(PARTLY_RACE) -- $(call race_tests,$$race) || status=1; \
	exit $$status

.PHONY: test-unit
test-unit: $(BIN)/gotestsum ## Run only the tests of the pure packages, without a control plane, in seconds
	@hack/test test-unit $(PURE)

.PHONY: test-node
test-node: $(NODE_NEEDS) ## Run the operator on real pods, on new nodes (root, Linux) or on your cluster [KUBECONFIG=, CLUSTER_REGISTRY=, RUN=.]
	@$(call node_tests,node,30m,,,$(if $(or $(KUBECONFIG),$(RUN)),,$(apart)))

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## Format the Go files
	@for module in $(LINT_MODULES); do (cd $$module && $(abspath $(BIN))/golangci-lint fmt); done

.PHONY: lint
lint: $(BIN)/golangci-lint ## Run the linters of .golangci.yaml, and the linter for English
	@status=0; for module in $(LINT_MODULES); do echo "lint $$module"; \
		(cd $$module && $(abspath $(BIN))/golangci-lint run --config $(CURDIR)/.golangci.yaml) || status=1; \
	done; echo "lint prose"; $(GO) run ./hack/prose || status=1; exit $$status

.PHONY: verify
verify: $(BIN)/actionlint $(BIN)/gofumpt ## Fail when generated files, go.mod files or formatting are not up to date, or a workflow has a mistake
	@hack/verify

.PHONY: generate
generate: generate-api generate-rbac generate-release-data generate-docs ## Write all generated files

.PHONY: site
site: playground reference schemas ## Build the documentation site with the playground into .cache/site, and check its links (needs Python 3.12 or newer)
	@PATH="$$($(SITE_TOOLS)):$$PATH"; mkdocs build --clean 2>&1 | { grep -v '^INFO' || true; }; echo "built .cache/site"
