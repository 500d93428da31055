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
	@$(GO) run ./hack/installation .

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
