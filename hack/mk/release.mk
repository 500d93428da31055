##@ Releases

RELEASE_TOOLS := $(addprefix $(BIN)/,cosign crane helm ko kustomize)

.PHONY: release
release: $(RELEASE_TOOLS) ## Write the files of a release into a new folder [VERSION=v0.10.0 OUT=folder, REGISTRY=ghcr.io/llamastack, KEY=cosign.key: sign them, PUSH=1: sign them, and push the images and the chart]
	@REGISTRY='$(REGISTRY)' KEY='$(KEY)' hack/release '$(VERSION)' '$(OUT)'
	@$(if $(KEY)$(PUSH),REGISTRY='$(REGISTRY)' KEY='$(KEY)' PUSH='$(PUSH)' hack/publish-release '$(OUT)')

# RELEASE_PASSED has the digest of the files that decide what a release is, at the last run of test-release. Commit it.
RELEASE_PASSED := hack/tools/release/passed.txt
release_digest = git ls-files -- .ko.yaml hack/release hack/publish-release hack/tools/release test/release ':!$(RELEASE_PASSED)' | xargs sha256sum | sha256sum

.PHONY: test-release
test-release: $(RELEASE_TOOLS) $(BIN)/gotestsum ## Make a release twice, compare the files, verify the signatures, and start the programs [PLATFORMS=linux/amd64: less to compile; otherwise run apt-get update and apt-get install qemu-user-static]
	@rm -rf $(RELEASE_FOLDER)
	@RELEASE_FOLDER=$(RELEASE_FOLDER) MODULES=hack/tools/release hack/test test-release -tags=release -count=1 -timeout=120m -run='^TestRelease$$' ./test/release
	@[ -n "$(UNRECORDED)" ] || $(release_digest) >$(RELEASE_PASSED)

# `make test-release` keeps the files of the release in this folder.
RELEASE_FOLDER := $(abspath $(CACHE))/test/release

.PHONY: test-release-changed
test-release-changed: ## Test a release for one platform, if its files changed after the last run of test-release
	@if [ "$$($(release_digest))" = "$$(cat $(RELEASE_PASSED))" ]; then echo "the files of a release did not change"; else \
		$(MAKE) test-release lint PLATFORMS=linux/amd64 LINT_MODULES=hack/tools/release UNRECORDED=1; fi

.PHONY: test-installation
test-installation: $(BIN)/helm $(BIN)/krew $(BIN)/gotestsum cluster-tool chart node-packages ## Install from the files of a release as the pages say, on a control plane and on a node (root, Linux) [OUT=folder, by default that of test-release]
	@export $(ASSETS) RELEASE_FOLDER=$(abspath $(or $(OUT),$(RELEASE_FOLDER))); \
	$(BIN)/cluster run --node -- hack/test test-installation -count=1 -timeout=30m -run='^TestInstalled$$' ./test/installed \
		+ -tags=release$(comma)node -count=1 -timeout=30m -run='^TestInstallation$$' ./test/release

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
		GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' \
			-o $(CACHE)/airgap-bin/kubectl-llamastack-$${platform%/*}-$${platform#*/} ./cmd/kubectl-llamastack; \
	done; \
	$(GO) run ./hack/bundle -output $(BUNDLE) -operator '$(OPERATOR)' -programs $(CACHE)/airgap-bin \
		$(if $(PLATFORM),-platform $(PLATFORM)) $(if $(filter allow,$(MISSING)),-allow-missing) $(SERVERS)

OLM ?= $(CACHE)/olm

.PHONY: bundle
bundle: manifests ## Write a bundle and a catalog for the Operator Lifecycle Manager [VERSION=v0.10.0, REGISTRY=ghcr.io/llamastack, OLM=.cache/olm]
	@$(GO) run ./hack/olm -version '$(VERSION)' $(if $(REGISTRY),-image '$(REGISTRY)/llama-stack-k8s-operator-bundle') '$(OLM)'

.PHONY: check-hook
check-hook: ## Run the hook of the last commit with the real pre-commit (minutes; pip install pre-commit)
	@hack/try-hook

.PHONY: man
man: ## Write the man pages of the CLI into dist/man
	@rm -rf dist/man; mkdir -p dist/man
	@SOURCE_DATE_EPOCH="$$(git log -1 --format=%ct)" $(GO) run ./hack/man '$(VERSION)' dist/man

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
