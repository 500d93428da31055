##@ Documentation site

# Each version of the list of programs for the site has its own folder. NO_MKDOCS_2_WARNING hides the theme's message
# about MkDocs 2, because MkDocs 1.6 is pinned.
SITE_ENV = $${XDG_CACHE_HOME:-$$HOME/.cache}/llama-stack-k8s-operator/site-$$(sha256sum site/requirements.txt | cut -c1-12)
SITE_TOOLS = hack/server-env site/requirements.txt "$(SITE_ENV)"
export NO_MKDOCS_2_WARNING := 1

.PHONY: site-serve
site-serve: reference ## Serve the documentation site on http://127.0.0.1:8000 and build it again after each change
	@PATH="$$($(SITE_TOOLS)):$$PATH"; mkdocs serve

.PHONY: test-search
test-search: ## Ask the search of the built site the questions in site/search.test.js (after `make site`; needs Node 20 or newer)
	@node site/search.test.js $(CACHE)/site

# The last line of a picture has the checksum of its source, which a test of the documentation compares.
.PHONY: pictures
pictures: ## Draw the pictures in docs/assets from hack/pictures (needs Graphviz)
	@for source in hack/pictures/*.dot; do \
		{ dot -Tsvg $$source | sed '1,/^<!-- Title/d'; echo "<!-- $$(sha256sum $$source) -->"; } >docs/assets/$$(basename $$source .dot).svg; \
	done

.PHONY: recordings
recordings: ## Record the terminals in docs/assets again, with the commands in hack/recording
	@$(GO) test ./hack/recording -update >/dev/null; $(GO) run ./hack/recording hack/recording/demo.txt docs/assets/demo.svg

.PHONY: site-version
site-version: playground reference schemas ## Add a version of the site to the local branch gh-pages [VERSION=1.2 ALIAS=latest]
	@PATH="$$($(SITE_TOOLS)):$$PATH"; mike deploy --update-aliases "$(VERSION)" $(ALIAS)

.PHONY: test-site
test-site: ## Check the built site with axe in headless Chromium (after `make site`; needs what test-playground needs)
	@[ -d web/playground/test/node_modules ] || npm ci --prefix web/playground/test --ignore-scripts --no-audit --no-fund
	@node --test --test-reporter=spec web/playground/test/site.test.js

# The test prints the table of the pages, and the commands that failed.
DOCS_TEST = -count=1 -timeout=60m ./test/docs -args $(if $(PAGE),-page=$(PAGE)) $(if $(UPDATE),-update) -table=$(abspath $(CACHE))/test/docs.txt

.PHONY: docs-test
docs-test: cluster-tool $(BIN)/helm chart reference $(if $(NODE),node-packages) ## Run the commands of the documentation and compare their output [PAGE=how-to/vllm, UPDATE=1: write the output, NODE=1: also run commands that need pods, as root]
	@mkdir -p $(CACHE)/test; rm -f $(CACHE)/test/docs.txt; export $(ASSETS); status=0; \
	$(if $(NODE),$(BIN)/cluster run --node --) $(GO) test $(if $(NODE),-tags=node) -run '^TestPages$(if $(NODE),OnNode)$$' -parallel=4 \
		$(DOCS_TEST) >$(CACHE)/test/docs.log 2>&1 || status=$$?; \
	if [ -s $(CACHE)/test/docs.txt ]; then cat $(CACHE)/test/docs.txt; else cat $(CACHE)/test/docs.log; fi; \
	[ $$status -eq 0 ] || echo "The complete log is in $(CACHE)/test/docs.log."; exit $$status
