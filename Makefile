# `make help` lists the targets. Most targets need only Go, git and make. They build tools from tools/go.mod into
# .cache/bin, and put a control plane into your cache directory: a published release, or a build from Go modules
# (test/cluster/README.md).

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-print-directory --no-builtin-rules

GO ?= go
# Without paths in the binaries, the build cache serves every checkout of this repository.
export GOFLAGS ?= -trimpath
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
CACHE := .cache
BIN := $(CACHE)/bin

# The packages below these folders are pure: docs/development/architecture.md.
PURE_PACKAGES := api internal/core internal/migrate internal/playground
PURE := $(patsubst %,./%/...,$(PURE_PACKAGES))

# These packages start goroutines. Their tests run under the race detector, the longest first. It makes tests about six
# times as slow, so two packages run without it, except for some of their tests: those with a running operator, and those
# in which several goroutines use the registry client.
RACE_PACKAGES := internal/operator/manager internal/operator/webhook internal/cluster/migration internal/cluster/apply internal/cli/bundle internal/cluster/informer internal/cluster/probe \
	internal/cluster/resolve/registry/cloud internal/operator/controller/metrics internal/operator/controller/queue internal/cluster/share internal/cli/forward internal/cli/inspect internal/cli/podlogs internal/cli/progress
RACE := $(patsubst %,./%/...,$(RACE_PACKAGES))
PARTLY_RACE := ./internal/operator/controller ./internal/cluster/resolve/registry
RACE_TESTS := ^Test(Running|Pool|Watch|ManyStacks|Together)
race_tests = -p=1 -timeout=30m $(1) -run='$(RACE_TESTS)' $(PARTLY_RACE) + -p=1 -timeout=30m $(1) $(RACE)

# These modules have tests, in addition to the module of the product.
TEST_MODULES := test/cluster test/cluster/components/agents test/chart

# This is the minimum statement coverage of all pure packages together, in percent.
MIN_COVERAGE ?= 80
FUZZTIME ?= 30s
BENCH ?= .
BENCHCOUNT ?= 6
# These are the variables of bench-scale. bench-takeover also uses OBJECTS.
OBJECTS ?= 1000
FOREIGN ?= 20000
IDLE ?= 1m
CONTROLLERS ?= false
EXPOSED ?= false

comma := ,
empty :=
space := $(empty) $(empty)
joined = $(subst $(space),$(comma),$(strip $(1)))

# If KUBEBUILDER_ASSETS is set, `cluster assets` prints its value.
ASSETS = KUBEBUILDER_ASSETS="$$($(BIN)/cluster assets)"

# This is the oldest Kubernetes that test/cluster builds, according to the names of its folders.
OLDEST_KUBERNETES := $(patsubst k8s-%,%,$(firstword $(sort $(filter k8s-%,$(notdir $(wildcard test/cluster/components/*))))))

##@ Everyday

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## "; print "Usage: make TARGET [VARIABLE=value]" } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z0-9-]*:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the operator and the CLI into bin/
	@mkdir -p bin
	@for program in $(notdir $(wildcard cmd/*)); do \
		echo "building bin/$$program"; \
		$(GO) build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/$$program ./cmd/$$program; \
	done

IMAGE ?= llama-stack-k8s-operator:dev
CONTAINER_TOOL ?= docker

.PHONY: image
image: ## Build the image of the operator from the Dockerfile [IMAGE=llama-stack-k8s-operator:dev, CONTAINER_TOOL=docker or podman]
	@$(CONTAINER_TOOL) build --build-arg VERSION=$(VERSION) --build-arg REVISION=$$(git rev-parse HEAD) --tag $(IMAGE) .

.PHONY: demo
demo: cluster-tool $(if $(NODE),node-packages) ## Run the operator and a sample stack on a control plane, and show the result [NODE=1: in pods, with an answer of a model; as root]
	@$(BIN)/cluster run $(if $(NODE),--node) -- hack/demo

.PHONY: clean
clean: ## Remove the files that the targets built in this work tree
	@rm -rf $(CACHE) bin

##@ Tests

# The race detector needs a C compiler.
RACE_FLAG = $(if $(shell command -v "$$($(GO) env CC)"),-race)
# These are the packages that are not in a list above. The packages in LONG take longest and start first.
LONG := $(patsubst %,./test/%,docs webhook faults contract installed scale api server/corpus rollout cloud) ./internal/cli ./hack/schemas
OTHERS = $(LONG) $$($(GO) list ./... | grep -vxFf <($(GO) list $(RACE) $(PARTLY_RACE) $(PURE)))
COVERED = -coverpkg=$(call joined,$(PURE)) -coverprofile=$(CACHE)/test/cover.out $(PURE)

# The tests of each package run once: with coverage for the pure packages, with the race detector for packages with
# goroutines, and otherwise as they are. Only the pure packages always use a core. The others wait for an API server
# much of the time, so four of them at the same time fill two cores. `go build` compiles with all cores, and
# `go test -p=1` does not.
.PHONY: test
test: cluster-tool $(BIN)/gotestsum $(BIN)/helm chart manifests reference ## Run all Go tests that need neither a Llama Stack server nor a node, on a real API server, and measure the coverage of the pure packages (if there is a C compiler, packages with goroutines run under the race detector)
	@export $(ASSETS); mkdir -p $(CACHE)/test; race="$(RACE_FLAG)"; status=0; \
	[ -n "$$race" ] || echo "There is no C compiler: the packages with goroutines are tested without the race detector."; \
	MIN_COVERAGE=$(MIN_COVERAGE) hack/test test-unit $(COVERED) || status=1; \
	$(GO) build $$race $(RACE) $(PARTLY_RACE); \
	MODULES="$(TEST_MODULES)" hack/test test -p=2 -parallel=4 -timeout=30m $(OTHERS) \
		-- -p=1 -timeout=30m -skip='$(RACE_TESTS)' $(PARTLY_RACE) -- $(call race_tests,$$race) || status=1; \
	exit $$status

# This target ignores KUBEBUILDER_ASSETS, because it tests a specific version. .ci/run emulates the version, because the
# build of a second Kubernetes would take ten more minutes.
.PHONY: test-api-oldest
test-api-oldest: cluster-tool $(BIN)/gotestsum ## Run the tests of the API and its admission on the oldest Kubernetes that test/cluster builds [EMULATED=true: on the newest Kubernetes, which emulates the oldest]
	@assets="$$(KUBEBUILDER_ASSETS= $(BIN)/cluster assets $(if $(EMULATED),,--kubernetes $(OLDEST_KUBERNETES)))"; \
	echo "Kubernetes $(OLDEST_KUBERNETES)$(if $(EMULATED), in emulation): $$assets"; \
	KUBEBUILDER_ASSETS="$$assets" $(if $(EMULATED),EMULATED_KUBERNETES=$(OLDEST_KUBERNETES)) hack/test test-api-oldest -count=1 ./test/api

.PHONY: test-unit
test-unit: $(BIN)/gotestsum ## Run only the tests of the pure packages, without a control plane, in seconds
	@hack/test test-unit $(PURE)

.PHONY: test-race
test-race: cluster-tool $(BIN)/gotestsum ## Run only the tests of the packages with goroutines, under the race detector (needs a C compiler)
	@export $(ASSETS); hack/test test-race $(call race_tests,-race)

# These packages have tests that start real servers.
REAL_SERVER := $(patsubst %,./test/server/%,boot registry conformance external realserver)

# While a server starts, it uses a core only part of the time, so three packages with three tests each fill two cores.
.PHONY: test-server
test-server: $(BIN)/gotestsum ## Test generated configurations with the real server (needs Python 3.12 or newer) [RELEASES="1.4 1.5", all; VERDICTS=fresh starts every server again]
	@RELEASES="$(RELEASES)" SHOW=healthy REPORT="$(GO) run ./test/server/report $(if $(RELEASES),-record)" \
		hack/test test-server -tags=server -count=1 -p=3 -parallel=3 -timeout=90m $(REAL_SERVER)

.PHONY: test-stacks
test-stacks: $(BIN)/gotestsum ## Start random stacks with references between their parts on the real servers [RELEASES="0.7 1.5", STACKS=150, STACKS_SEED=1]
	@RELEASES="$(or $(RELEASES),all)" STACKS="$(or $(STACKS),150)" STACKS_SEED="$(STACKS_SEED)" SHOW="stacks" \
		hack/test test-stacks -tags=server -count=1 -timeout=600m -parallel=2 -run='^TestWideStacks$$' ./test/server/conformance

.PHONY: test-offline-models
test-offline-models: $(BIN)/gotestsum ## Load an embedding model from files on real servers without a network (installs 6 GB of PyTorch) [RELEASES="1.5"]
	@RELEASES="$(RELEASES)" SHOW="offline:" \
		hack/test test-offline-models -tags=server$(comma)models -count=1 -timeout=30m -run='^TestOfflineModels$$' ./test/server/boot

# The servers take most of the time. Two of them run at the same time on every machine.
RETENTION_RELEASES ?= 0.3.5 0.5.4 0.7.3 0.8.0 1.0.4 1.5.0

.PHONY: test-retention
test-retention: $(BIN)/gotestsum ## Test on the real servers that changes to a stack lose no data, and print tables [RELEASES="0.7.3", RETENTION_SEED=1]
	@mkdir -p $(CACHE)/test; rm -f $(CACHE)/test/retention.txt; status=0; \
	RELEASES="$(or $(RELEASES),$(RETENTION_RELEASES))" RETENTION_SEED="$(RETENTION_SEED)" RETENTION_TABLE=$(abspath $(CACHE))/test/retention.txt \
		hack/test test-retention -tags=server$(comma)retention -count=1 -timeout=120m -parallel=2 -run='^TestRetention' ./test/server/boot || status=$$?; \
	cat $(CACHE)/test/retention.txt $(CACHE)/test/test-retention.closing; exit $$status

.PHONY: test-faults
test-faults: cluster-tool $(BIN)/gotestsum ## Test the operator with faults in its calls and its environment, at every write, and print a table (minutes)
	@export $(ASSETS); mkdir -p $(CACHE)/test; status=0; \
	hack/test test-faults -count=1 -timeout=60m ./test/faults -all -table=$(abspath $(CACHE))/test/faults.md \
		+ -count=1 -timeout=60m ./test/transition -all \
		+ -count=1 -timeout=60m -run='DisconnectAfterWrites$$' ./internal/operator/controller -all || status=$$?; \
	cat $(CACHE)/test/faults.md; exit $$status

.PHONY: test-cold
test-cold: ## Run the gate with new, empty caches, which it removes at the end (more than an hour)
	@caches=$$(mktemp -d); trap 'chmod -R u+w "$$caches"; rm -rf "$$caches"' EXIT; rm -rf $(CACHE); \
	XDG_CACHE_HOME=$$caches GOCACHE=$$caches/go-build GOMODCACHE=$$caches/mod npm_config_cache=$$caches/npm .ci/run

# To use your own cluster, set KUBECONFIG, and set CLUSTER_REGISTRY for its images. Otherwise, the target creates a
# cluster, and also tests the tool that creates it. Most scenarios wait most of the time, so many of them run at the same
# time.
NODE_NEEDS = $(BIN)/gotestsum $(if $(KUBECONFIG),,cluster-tool node-packages)
node_tests = SHOW='$(or $(4),scenario took)' $(if $(KUBECONFIG),,MODULES=test/cluster MODULE_FLAGS='-tags=node -run=Node -count=1 -timeout=20m' \
	$(BIN)/cluster run --node --) \
	hack/test $@ $(5) -tags=$(1) -count=1 -timeout=$(2) -parallel=16 -run='$(or $(RUN),$(3),.)' ./test/node/...

# These scenarios kill or replace the operator, so no other scenario can run in the same cluster at the same time. They
# run in a second cluster, unless you choose a cluster or scenarios. The tests of test/cluster run after them.
ALONE := ^(TestEveryOperatorPodIsLost|TestOperatorPods|TestTakeOver)$$
apart = -exec=$(CURDIR)/hack/on-node -tags=node -count=1 -timeout=30m -run='$(ALONE)' ./test/node -- -skip='$(ALONE)'

.PHONY: test-node
test-node: $(NODE_NEEDS) ## Run the operator on real pods, on new nodes (root, Linux) or on your cluster [KUBECONFIG=, CLUSTER_REGISTRY=, RUN=.]
	@$(call node_tests,node,30m,,,$(if $(or $(KUBECONFIG),$(RUN)),,$(apart)))

.PHONY: test-node-all
test-node-all: $(NODE_NEEDS) ## Run test-node with every scenario on the real server: databases, HTTPS, upgrade (needs Python 3.12 or newer)
	@$(call node_tests,node$(comma)all$(if $(KUBECONFIG),,$(comma)own),90m)

.PHONY: test-upgrade
test-upgrade: $(NODE_NEEDS) ## Test upgrades with running pods: from and to the operator for v1alpha1, and from an older commit [OLDER=bin/manager of its work tree, KUBECONFIG=]
	@OLDER="$(if $(OLDER),$(abspath $(OLDER)))"; export OLDER; $(call node_tests,node$(comma)all,30m,^(TestTakeOver|TestOperatorUpgrade)$$,step[:$(comma)] )

# The test prints the table of the pages, and the commands that failed.
DOCS_TEST = -count=1 -timeout=60m ./test/docs -args $(if $(PAGE),-page=$(PAGE)) $(if $(UPDATE),-update) -table=$(abspath $(CACHE))/test/docs.txt

.PHONY: docs-test
docs-test: cluster-tool $(BIN)/helm chart reference $(if $(NODE),node-packages) ## Run the commands of the documentation and compare their output [PAGE=how-to/vllm, UPDATE=1: write the output, NODE=1: also run commands that need pods, as root]
	@mkdir -p $(CACHE)/test; rm -f $(CACHE)/test/docs.txt; export $(ASSETS); status=0; \
	$(if $(NODE),$(BIN)/cluster run --node --) $(GO) test $(if $(NODE),-tags=node) -run '^TestPages$(if $(NODE),OnNode)$$' -parallel=4 \
		$(DOCS_TEST) >$(CACHE)/test/docs.log 2>&1 || status=$$?; \
	if [ -s $(CACHE)/test/docs.txt ]; then cat $(CACHE)/test/docs.txt; else cat $(CACHE)/test/docs.log; fi; \
	[ $$status -eq 0 ] || echo "The complete log is in $(CACHE)/test/docs.log."; exit $$status

# The target prints the commands and their output, even after a failure.
.PHONY: test-airgap
test-airgap: $(BIN)/gotestsum $(BIN)/helm cluster-tool node-packages ## Install from a bundle on a node without internet access, up to a model's answer (root, Linux, Python 3.12 or newer)
	@mkdir -p $(CACHE)/test; rm -f $(CACHE)/test/airgap.txt; status=0; \
	$(BIN)/cluster run --node -- hack/test test-airgap -tags=airgap -count=1 -timeout=40m ./test/airgap \
		-transcript=$(abspath $(CACHE))/test/airgap.txt || status=$$?; \
	cat $(CACHE)/test/airgap.txt $(CACHE)/test/test-airgap.closing; exit $$status

.PHONY: test-e2e-older
test-e2e-older: cluster-tool node-packages ## Run the end-to-end suite of the operator for v1alpha1 on two new nodes (root, Linux) [SUITE=checkout of that operator, RUN=]
	@[ -n "$(SUITE)" ] || { echo "set the path of the checkout: make test-e2e-older SUITE=/path/to/checkout" >&2; exit 2; }
	@RUN='$(RUN)' $(BIN)/cluster run --node -- hack/test-e2e-older $(abspath $(SUITE))

.PHONY: test-release-data
test-release-data: ## Run the tests of the extraction tool (needs Python 3.12 or newer)
	@hack/release-data/extract --test 0.7.3

# The test uses the page in the folder PLAYGROUND, so that it does not change a built site in .cache/site.
.PHONY: test-playground
test-playground: playground ## Test the page of the playground in headless Chromium (needs chromium, Node 20 or newer, npm)
	@$(GO) build -o $(CACHE)/bin/kubectl-llamastack ./cmd/kubectl-llamastack
	@CLI=$(abspath $(CACHE))/bin/kubectl-llamastack hack/test-playground $(PLAYGROUND)

.PHONY: bench
bench: $(BIN)/benchstat ## Run the benchmarks and compare with the last run [BENCH=. BENCHCOUNT=6]
	@mkdir -p $(CACHE)/bench; cd $(CACHE)/bench; [ ! -f new.txt ] || mv new.txt old.txt
	@$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(BENCHCOUNT) $(PURE) \
		| grep -v -e '^ok ' -e 'no test files' -e '^PASS$$' | tee $(CACHE)/bench/new.txt
	@cd $(CACHE)/bench; [ ! -f old.txt ] || { echo; $(abspath $(BIN))/benchstat old.txt new.txt; }

.PHONY: bench-scale
bench-scale: cluster-tool ## Measure the operator with many stacks [OBJECTS=1000 FOREIGN=20000 IDLE=1m CONTROLLERS=false EXPOSED=false BEFORE=program]
	@export $(ASSETS); mkdir -p $(CACHE)/bench; rm -f $(CACHE)/bench/scale.md; \
	$(GO) test ./test/scale -run '^$$' -bench Scale -benchtime 1x -timeout 3h -args -objects=$(OBJECTS) -foreign=$(FOREIGN) \
		-idle=$(IDLE) -controllers=$(CONTROLLERS) -exposed=$(EXPOSED) $(if $(BEFORE),-before=$(abspath $(BEFORE))) -table=$(abspath $(CACHE))/bench/scale.md; \
	cat $(CACHE)/bench/scale.md

.PHONY: bench-tenants
bench-tenants: cluster-tool ## Measure how large stacks, floods, silent servers and stalled layers of one namespace affect another (minutes)
	@export $(ASSETS); $(GO) test ./internal/cluster/probe ./test/scale -run '^$$' -bench Tenants -benchtime 1x -timeout 1h

.PHONY: bench-registry
bench-registry: ## Measure the cost of reading images: the time without the network, and the heap for a hundred images at the same time
	@$(GO) test ./internal/cluster/resolve/registry -run '^$$' -bench 'Extract|ManyImages' -benchmem

.PHONY: bench-takeover
bench-takeover: cluster-tool ## Measure the takeover of many stacks of the operator for v1alpha1: the writes of the operator, and lists in both versions (minutes) [OBJECTS=1000]
	@export $(ASSETS); $(GO) test ./test/scale -run '^$$' -bench TakeOver -benchtime 1x -timeout 1h -args -objects=$(OBJECTS)

.PHONY: bench-admission
bench-admission: cluster-tool ## Measure the validating webhook, with and without a dry run
	@export $(ASSETS); $(GO) test ./internal/operator/webhook/admission -run '^$$' -bench 'Handle|Try' -benchtime 1000x

.PHONY: bench-webhook
bench-webhook: cluster-tool ## Attack the webhook port without credentials, and measure the conversions of another client and the memory of the operator (minutes)
	@export $(ASSETS); $(GO) test ./test/webhook -run '^$$' -bench Hostile -benchtime 1x -timeout 1h

.PHONY: bench-external
bench-external: $(NODE_NEEDS) ## Measure how much external providers add to the start of real pods, on a new node (root, Linux)
	@$(BIN)/cluster run --node -- $(GO) test -tags=node,all -run '^$$' -bench ExternalProviders -benchtime 3x -timeout 1h ./test/node

.PHONY: bench-conversion
bench-conversion: cluster-tool ## Convert 1.5 MiB stacks for a real API server, and 300 MiB ConversionReview objects, within the memory of the shipped container (minutes)
	@export $(ASSETS); $(GO) test ./test/webhook -run '^$$' -bench Large -benchtime 1x -timeout 1h

# By default, the fuzzing engine spends most of its time on shortening inputs. With -fuzzminimizetime=1x, it spends the
# time on new inputs.
# Before Go 1.27.1, a run with a FUZZTIME in seconds can end with "context deadline exceeded" and no failing input
# (golang/go#75804). A run with a number of inputs, such as 40000x, does not.
.PHONY: fuzz
fuzz: ## Run every fuzz target for a limited time [FUZZTIME=30s, or 40000x, FUZZ=internal/migrate/convert]
	@git grep -o -E '^func Fuzz[A-Za-z0-9_]+' -- '$(or $(FUZZ:%=%/),*)*_test.go' | while IFS=: read -r file function; do \
		name=$${function#func }; echo "fuzz $$name ($$(dirname "$$file"))"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x "./$$(dirname "$$file")"; \
	done

STRUCTURES ?= 1h
STRUCTURES_SEED ?= 1
.PHONY: fuzz-structures
fuzz-structures: cluster-tool ## Send objects of random structure to an API server with the policy, and print the slowest requests [STRUCTURES=1h, STRUCTURES_SEED=1]
	@export $(ASSETS); $(GO) test ./test/api -v -count=1 -timeout=0 -run '^TestStructures$$' -structures=$(STRUCTURES) -structures-seed=$(STRUCTURES_SEED)

VARIANTS ?= 4000
VARIANTS_SEED ?= 1
.PHONY: test-variants
test-variants: cluster-tool ## Compare the command line with an API server for random stacks and their objects [VARIANTS=4000, VARIANTS_SEED=1]
	@export $(ASSETS); $(GO) test ./test/webhook -count=1 -timeout=0 -run '^TestSameAnswers$$' -variants=$(VARIANTS) -variants-seed=$(VARIANTS_SEED) && \
	$(GO) test ./test/api -count=1 -timeout=0 -run '^TestChildren$$' -children=$(VARIANTS) -seed=$(VARIANTS_SEED)

##@ Code

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## Format the Go files
	@for module in $(LINT_MODULES); do (cd $$module && $(abspath $(BIN))/golangci-lint fmt); done

.PHONY: lint
lint: $(BIN)/golangci-lint ## Run the linters of .golangci.yaml, and the linter for English
	@status=0; for module in $(LINT_MODULES); do echo "lint $$module"; \
		(cd $$module && $(abspath $(BIN))/golangci-lint run --config $(CURDIR)/.golangci.yaml) || status=1; \
	done; echo "lint prose"; $(GO) run ./hack/prose || status=1; exit $$status

.PHONY: verify
verify: $(BIN)/gofumpt ## Fail when generated files, go.mod files or formatting are not up to date
	@hack/verify

.PHONY: measure
measure: ## Print the length of the product's packages, files and functions
	@$(GO) run ./test/architecture/measure

.PHONY: generate
generate: generate-api generate-rbac generate-release-data generate-docs ## Write all generated files

.PHONY: generate-api
generate-api: $(BIN)/controller-gen
	@$(BIN)/controller-gen object paths=./api/...
	@$(BIN)/controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
	@$(GO) run ./hack/crd config/crd/bases/*.yaml

.PHONY: generate-release-data
generate-release-data:
	@$(GO) run ./hack/release-data/pack

.PHONY: generate-rbac
generate-rbac: $(BIN)/controller-gen
	@$(BIN)/controller-gen rbac:roleName=llama-stack-k8s-operator-manager-role paths=./internal/... output:rbac:dir=config/rbac
	@$(GO) run ./hack/role config/rbac/role.yaml config/rbac/namespaced/role.yaml

.PHONY: generate-docs
generate-docs:
	@$(GO) run ./hack/flags docs/reference/operator-flags.md
	@$(GO) run ./hack/conditions api/v1alpha2/conditions.go docs
	@$(GO) run ./hack/clireference docs/reference/cli

##@ Files that are not in the repository

.PHONY: manifests
manifests: $(BIN)/kustomize ## Write the manifests that install the operator, and the list of all images, into dist/
	@mkdir -p dist; $(BIN)/kustomize build config/default >dist/install.yaml; \
	for overlay in $(notdir $(wildcard config/overlays/*)); do \
		$(BIN)/kustomize build config/overlays/$$overlay >dist/install-$$overlay.yaml; done; \
	$(GO) run ./hack/images dist/images.txt dist/install*.yaml

.PHONY: chart
chart: ## Write the files of the Helm chart that are parts of config/
	@$(GO) run ./hack/chart charts/llama-stack-k8s-operator/files

.PHONY: reference
reference: $(BIN)/crd-ref-docs ## Write the reference pages of the API and of the providers into docs/reference/
	@for version in v1alpha1 v1alpha2; do \
		$(BIN)/crd-ref-docs --log-level=ERROR --source-path=api/$$version --config=hack/crd-ref-docs.yaml \
			--renderer=markdown --output-path=docs/reference/$$version.md; done
	@sed -i 's/items:XValidation: .*<nil>\\} <br \/>//' docs/reference/v1alpha2.md # The tool prints rules on items as a Go struct. The CRD and the messages show these rules.
	@sed -Ez -i 's/( |\n|<br \/>)\(FR-[^)]*\)//g' docs/reference/v1alpha2.md # The numbers of the requirements are for developers.
	@$(GO) run ./hack/reference api/v1alpha2 docs/reference/v1alpha2.md docs/reference/v1alpha1.md
	@rm -rf docs/reference/providers; $(GO) run ./hack/providers docs/reference/providers

.PHONY: schemas
schemas: ## Write the JSON Schemas for editors into schemas/
	@rm -rf schemas; mkdir schemas; $(GO) run ./hack/schemas schemas

# These are the platforms of the command line in a bundle.
CLI_PLATFORMS ?= linux/amd64 linux/arm64 darwin/arm64
BUNDLE ?= bin/llama-stack-bundle.tar
SERVERS ?= starter

# The target fails if an image cannot be pulled, unless MISSING=allow is set.
.PHONY: airgap-bundle
airgap-bundle: manifests chart ## Write an archive for clusters without internet access [OPERATOR=image or image=oci:DIR, SERVERS="starter starter@0.7.3 image=SOURCE", PLATFORM=linux/amd64, BUNDLE=file, MISSING=allow]
	@[ -n "$(OPERATOR)" ] || { echo "set the image of the operator: make airgap-bundle OPERATOR=registry.example.com/llama-stack-k8s-operator:v1, or OPERATOR=llama-stack-k8s-operator:dev=oci:DIR for an image from docker buildx build --output type=oci,tar=false,dest=DIR" >&2; exit 2; }
	@rm -rf $(CACHE)/airgap-bin; mkdir -p $(CACHE)/airgap-bin $(dir $(BUNDLE)); \
	for platform in $(CLI_PLATFORMS); do \
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' \
			-o $(CACHE)/airgap-bin/kubectl-llamastack-$${platform%/*}-$${platform#*/} ./cmd/kubectl-llamastack; \
	done; \
	$(GO) run ./hack/bundle -output $(BUNDLE) -operator '$(OPERATOR)' -programs $(CACHE)/airgap-bin \
		$(if $(PLATFORM),-platform $(PLATFORM)) $(if $(filter allow,$(MISSING)),-allow-missing) $(SERVERS)

# These are the platforms of the command line in a release.
CLI_RELEASE_PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
CLI_RELEASE ?= bin/cli
CLI_URL ?= https://github.com/llamastack/llama-stack-k8s-operator/releases/download/$(VERSION)

.PHONY: cli-release
cli-release: ## Build the CLI for every platform, with archives and checksums, into bin/cli [CLI_RELEASE_PLATFORMS="linux/amd64"]
	@rm -rf $(CLI_RELEASE); mkdir -p $(CLI_RELEASE); \
	for platform in $(CLI_RELEASE_PLATFORMS); do \
		name=kubectl-llamastack-$${platform%/*}-$${platform#*/}; [ "$${platform%/*}" != windows ] || name=$$name.exe; \
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' \
			-o $(CLI_RELEASE)/$$name ./cmd/kubectl-llamastack; echo "built $(CLI_RELEASE)/$$name"; \
	done; \
	$(GO) run ./hack/krew -pack $(CLI_RELEASE)

.PHONY: krew
krew: ## Write dist/krew/llamastack.yaml, the krew manifest of a release [VERSION=v1.2.3 CHECKSUMS=bin/cli/checksums.txt CLI_URL=https://…]
	@$(GO) run ./hack/krew -version '$(VERSION)' -url '$(CLI_URL)' -checksums '$(or $(CHECKSUMS),$(CLI_RELEASE)/checksums.txt)' \
		-output dist/krew/llamastack.yaml

KREW ?= v0.4.3

.PHONY: check-krew
check-krew: krew ## Check dist/krew/llamastack.yaml with the tool of krew's index (downloads krew) [VERSION=v1.2.3 CHECKSUMS=bin/cli/checksums.txt CLI_URL=https://…]
	@$(GO) run sigs.k8s.io/krew/cmd/validate-krew-manifest@$(KREW) -manifest dist/krew/llamastack.yaml -skip-install

.PHONY: check-hook
check-hook: ## Run the hook of the last commit with the real pre-commit (minutes; pip install pre-commit)
	@hack/try-hook

.PHONY: man
man: ## Write the man pages of the CLI into dist/man
	@$(GO) run ./hack/man '$(VERSION)' dist/man

PLAYGROUND ?= $(CACHE)/playground

.PHONY: playground
playground: ## Write the page of the playground [PLAYGROUND=.cache/playground]
	@$(GO) run ./hack/playground $(PLAYGROUND)

.PHONY: release-data
release-data: ## Extract the data of a server release from its package [RELEASE=0.7.3]
	@[ -n "$(RELEASE)" ] || { echo "set the release: make release-data RELEASE=0.7.3" >&2; exit 2; }
	@hack/release-data/extract "$(RELEASE)"

.PHONY: release-data-newest
release-data-newest: ## List the server releases in the package index for which this repository has no data
	@hack/release-data/extract --newest

##@ Documentation site

# Each version of the list of programs for the site has its own folder. NO_MKDOCS_2_WARNING hides the theme's message
# about MkDocs 2, because MkDocs 1.6 is pinned.
SITE_ENV = $${XDG_CACHE_HOME:-$$HOME/.cache}/llama-stack-k8s-operator/site-$$(sha256sum site/requirements.txt | cut -c1-12)
SITE_TOOLS = hack/server-env site/requirements.txt "$(SITE_ENV)"
export NO_MKDOCS_2_WARNING := 1

.PHONY: site
site: playground reference schemas ## Build the documentation site with the playground into .cache/site, and check its links (needs Python 3.12 or newer)
	@PATH="$$($(SITE_TOOLS)):$$PATH"; mkdocs build --clean 2>&1 | { grep -v '^INFO' || true; }; echo "built .cache/site"

.PHONY: site-serve
site-serve: reference ## Serve the documentation site on http://127.0.0.1:8000 and build it again after each change
	@PATH="$$($(SITE_TOOLS)):$$PATH"; mkdocs serve

.PHONY: site-version
site-version: playground reference schemas ## Add a version of the site to the local branch gh-pages [VERSION=1.2 ALIAS=latest]
	@PATH="$$($(SITE_TOOLS)):$$PATH"; mike deploy --update-aliases "$(VERSION)" $(ALIAS)

##@ Cluster

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
# tools/go.mod or tools/lint/go.mod.

LINT_MODULES := . $(TEST_MODULES)

TOOL_benchstat := golang.org/x/perf/cmd/benchstat
TOOL_controller-gen := sigs.k8s.io/controller-tools/cmd/controller-gen
TOOL_crd-ref-docs := github.com/elastic/crd-ref-docs
TOOL_gofumpt := mvdan.cc/gofumpt
TOOL_gotestsum := gotest.tools/gotestsum
TOOL_kustomize := sigs.k8s.io/kustomize/kustomize/v5
TOOL_golangci-lint := github.com/golangci/golangci-lint/v2/cmd/golangci-lint

TOOLS := $(patsubst TOOL_%,%,$(filter-out TOOL_golangci-lint,$(filter TOOL_%,$(.VARIABLES))))

$(addprefix $(BIN)/,$(TOOLS)): $(BIN)/%: tools/go.mod tools/go.sum
	@echo "building the tool $*"
	@GOBIN=$(abspath $(BIN)) $(GO) install -C tools -trimpath $(TOOL_$*)
	@touch $@

# Helm is in the module of the chart tests, because these tests use its packages.
$(BIN)/helm: test/chart/go.mod test/chart/go.sum
	@echo "building the tool helm"
	@$(GO) build -C test/chart -o $(abspath $@) helm.sh/helm/v4/cmd/helm
	@touch $@

$(BIN)/golangci-lint: tools/lint/go.mod tools/lint/go.sum
	@echo "building the tool golangci-lint (takes some minutes, only once)"
	@GOBIN=$(abspath $(BIN)) $(GO) install -C tools/lint -trimpath $(TOOL_golangci-lint)
	@touch $@
