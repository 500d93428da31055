##@ Releases

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
