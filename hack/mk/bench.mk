##@ Benchmarks and fuzzing

FUZZTIME ?= 30s
BENCH ?= .
BENCHCOUNT ?= 6
# These are the variables of bench-scale. bench-takeover also uses OBJECTS, and bench-latency uses RUNS.
RUNS ?= 1
OBJECTS ?= 1000
FOREIGN ?= 20000
IDLE ?= 1m
CONTROLLERS ?= false
EXPOSED ?= false

.PHONY: bench
bench: $(BIN)/benchstat ## Run the benchmarks and compare with the last run [BENCH=. BENCHCOUNT=6]
	@mkdir -p $(CACHE)/bench; cd $(CACHE)/bench; [ ! -f new.txt ] || mv new.txt old.txt
	@$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(BENCHCOUNT) $(PURE) \
		| grep -v -e '^ok ' -e 'no test files' -e '^PASS$$' | tee $(CACHE)/bench/new.txt
	@cd $(CACHE)/bench; [ ! -f old.txt ] || { echo; $(abspath $(BIN))/benchstat old.txt new.txt; }

.PHONY: bench-scale
bench-scale: cluster-tool ## Measure the operator with many stacks [RUNS=1 OBJECTS=1000 FOREIGN=20000 IDLE=1m CONTROLLERS=false EXPOSED=false BEFORE=program]
	@export $(ASSETS); $(GO) test ./test/scale -run '^$$' -bench Scale -benchtime 1x -timeout 0 -args -runs=$(RUNS) \
		-objects=$(OBJECTS) -foreign=$(FOREIGN) -idle=$(IDLE) -controllers=$(CONTROLLERS) -exposed=$(EXPOSED) \
		$(if $(BEFORE),-before=$(abspath $(BEFORE)))

.PHONY: bench-latency
bench-latency: cluster-tool ## Measure the memory with one stack, and how long a new stack waits for its Deployment, and a changed one for its new pod [RUNS=1]
	@export $(ASSETS); $(GO) test ./test/scale -run '^$$' -bench Latency -benchtime 1x -timeout 0 -args -runs=$(RUNS)

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

.PHONY: bench-servers
bench-servers: ## Measure the memory and the start of the real servers, and print a table (minutes) [RELEASES="0.7 1.5", all]
	@mkdir -p $(CACHE)/bench; rm -f $(CACHE)/bench/servers.md; \
	RELEASES="$(or $(RELEASES),all)" SIZING_TABLE=$(abspath $(CACHE))/bench/servers.md \
		$(GO) test -tags=server$(comma)sizing -count=1 -timeout=3h -run='^TestSizing$$' ./test/server/boot; \
	cat $(CACHE)/bench/servers.md

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
