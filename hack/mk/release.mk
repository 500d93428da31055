##@ Releases

.PHONY: release
release: $(BIN)/ko $(BIN)/kustomize $(BIN)/helm ## Write the files of a release into a new folder [VERSION=v0.1.0 OUT=folder, REGISTRY=ghcr.io/llamastack, PUSH=1: push the image, too]
	@REGISTRY='$(REGISTRY)' PUSH='$(PUSH)' hack/release '$(VERSION)' '$(OUT)'

.PHONY: test-release
test-release: $(BIN)/ko $(BIN)/kustomize $(BIN)/helm $(BIN)/gotestsum ## Make a release twice, compare the files and check them, and install from them [KO_DEFAULTPLATFORMS=linux/amd64 CLI_RELEASE_PLATFORMS=linux/amd64: less to compile]
	@rm -rf $(RELEASE_FOLDER)
	@RELEASE_FOLDER=$(RELEASE_FOLDER) hack/test test-release -tags=release -count=1 -timeout=120m ./test/release
	@$(MAKE) test-installation OUT=$(RELEASE_FOLDER)

# `make test-release` keeps the files of the release in this folder.
RELEASE_FOLDER := $(abspath $(CACHE))/test/release

.PHONY: test-installation
test-installation: $(BIN)/helm $(BIN)/krew $(BIN)/gotestsum cluster-tool chart node-packages ## Install from the files of a release as the pages say, on a control plane and on a node (root, Linux) [OUT=folder]
	@export $(ASSETS) RELEASE_FOLDER=$(abspath $(OUT)); \
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
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' \
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
