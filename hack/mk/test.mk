##@ Tests

# The packages below these folders are pure: docs/development/architecture.md.
PURE_PACKAGES := api internal/core internal/migrate internal/playground
PURE := $(patsubst %,./%/...,$(PURE_PACKAGES))

# These packages start goroutines. Their tests run under the race detector, the longest first. It makes tests about six
# times as slow, so two packages run without it, except for some of their tests: those with a running operator, and those
# in which several goroutines use the registry client.
RACE_PACKAGES := internal/operator/manager internal/operator/webhook internal/cluster/migration internal/cluster/apply internal/cli/bundle internal/cluster/informer internal/cluster/probe \
	internal/cluster/resolve/registry/cloud internal/operator/controller/metrics internal/operator/controller/queue internal/cluster/share internal/cli/app/forward internal/cli/status internal/cli/logs internal/cli/app/progress
RACE := $(patsubst %,./%/...,$(RACE_PACKAGES))
PARTLY_RACE := ./internal/operator/controller ./internal/cluster/resolve/registry
RACE_TESTS := ^Test(Running|Pool|Watch|ManyStacks|Together)
race_tests = -p=1 -timeout=30m $(1) -run='$(RACE_TESTS)' $(PARTLY_RACE) + -p=1 -timeout=30m $(1) $(RACE)

# These modules have tests, in addition to the module of the product.
TEST_MODULES := test/cluster test/cluster/components/agents test/chart test/monitoring test/olm

# This is the minimum statement coverage of all pure packages together, in percent.
MIN_COVERAGE ?= 80

# This is the oldest Kubernetes that test/cluster builds, according to the names of its folders.
OLDEST_KUBERNETES := $(patsubst k8s-%,%,$(firstword $(sort $(filter k8s-%,$(notdir $(wildcard test/cluster/components/*))))))

# The race detector needs a C compiler.
RACE_FLAG = $(if $(shell command -v "$$($(GO) env CC)"),-race)
# These are the packages that are not in a list above. The packages in LONG take longest and start first, in this order.
LONG := $(addprefix ./,test/docs test/webhook test/faults test/api test/installed internal/cli test/server/corpus test/contract test/rollout test/scale hack/schemas test/cloud)
OTHERS = $(LONG) $$($(GO) list ./... | grep -vxFf <($(GO) list $(RACE) $(PARTLY_RACE) $(PURE)))
COVERED = -coverpkg=$(call joined,$(PURE)) -coverprofile=$(CACHE)/test/cover.out $(PURE)

# This target ignores KUBEBUILDER_ASSETS, because it tests a specific version. .ci/run emulates the version, because the
# build of a second Kubernetes would take ten more minutes.
.PHONY: test-api-oldest
test-api-oldest: cluster-tool $(BIN)/gotestsum ## Run the tests of the API and its admission on the oldest Kubernetes that test/cluster builds [EMULATED=true: on the newest Kubernetes, which emulates the oldest]
	@assets="$$(KUBEBUILDER_ASSETS= $(BIN)/cluster assets $(if $(EMULATED),,--kubernetes $(OLDEST_KUBERNETES)))"; \
	echo "Kubernetes $(OLDEST_KUBERNETES)$(if $(EMULATED), in emulation): $$assets"; \
	KUBEBUILDER_ASSETS="$$assets" $(if $(EMULATED),EMULATED_KUBERNETES=$(OLDEST_KUBERNETES)) hack/test test-api-oldest -count=1 ./test/api

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
test-retention: $(BIN)/gotestsum ## Test on the real servers that changes to a stack lose no data [RELEASES="0.7.3", RETENTION_SEED=1]
	@RELEASES="$(or $(RELEASES),$(RETENTION_RELEASES))" RETENTION_SEED="$(RETENTION_SEED)" SHOW="retention of" \
		hack/test test-retention -tags=server$(comma)retention -count=1 -timeout=120m -parallel=2 -run='^TestRetention' ./test/server/boot

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
ALONE := ^(TestEveryOperatorPodIsLost|TestTakeOver)$$
apart = -exec=$(CURDIR)/hack/on-node -tags=node -count=1 -timeout=30m -run='$(ALONE)' ./test/node -- -skip='$(ALONE)'

.PHONY: test-node-all
test-node-all: $(NODE_NEEDS) $(BIN)/helm ## Run test-node with every scenario on the real server: databases, HTTPS, upgrade (needs Python 3.12 or newer)
	@$(call node_tests,node$(comma)all$(if $(KUBECONFIG),,$(comma)own),90m)

.PHONY: test-upgrade
test-upgrade: $(NODE_NEEDS) $(BIN)/helm ## Test upgrades with running pods: from and to the operator for v1alpha1, by OLM, and from and to the newest release, by manifest and by Helm [OLDER=bin/manager of its work tree, KUBECONFIG=]
	@OLDER="$(if $(OLDER),$(abspath $(OLDER)))"; export OLDER; $(call node_tests,node$(comma)all,60m,^(TestTakeOver|TestTakeOverByOLM|TestOperatorUpgrade)$$,step[:$(comma)] )

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

.PHONY: vulnerabilities
vulnerabilities: ## Look for known vulnerabilities in the code that the programs call (needs vuln.go.dev)
	@$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./cmd/...

.PHONY: test-release-data
test-release-data: ## Run the tests of the extraction tool (needs Python 3.12 or newer)
	@hack/release-data/extract --test 0.7.3

# The test uses the page in the folder PLAYGROUND, so that it does not change a built site in .cache/site.
.PHONY: test-playground
test-playground: playground ## Test the page of the playground in headless Chromium (needs chromium, Node 20 or newer, npm)
	@$(GO) build -o $(CACHE)/bin/kubectl-llamastack ./cmd/kubectl-llamastack
	@CLI=$(abspath $(CACHE))/bin/kubectl-llamastack hack/test-playground $(PLAYGROUND)
