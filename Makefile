# Needed on PATH: Go, make, git and coreutils, and gcc for the tests' race detector. Every other tool is pinned in tools/
# and built from there when it is first used; docker (or CONTAINER_TOOL) is needed for images only. Recipes are plain
# POSIX sh.

VERSION ?= 0.1.0
IMAGE_TAG_BASE ?= example.com/appservice-operator
IMG ?= $(IMAGE_TAG_BASE):v$(VERSION)
PLATFORMS ?= linux/amd64,linux/arm64,linux/ppc64le,linux/s390x
CONTAINER_TOOL ?= docker
# The versions of Kubernetes that make test-versions runs on; make test runs on the newest.
OLDER_VERSIONS ?= 1.34 1.35
# More arguments for the manager (make run) and for go test (make test).
ARGS ?=
TESTFLAGS ?=
# Targets that work on a cluster use the current context of your kubeconfig. Without a kubectl, the pinned one is built.
KUBECTL ?= $(if $(shell command -v kubectl 2>/dev/null),kubectl,go run ./tools/cmd/tool kubectl)

# There are no webhooks: the manager accepts the variable and it changes nothing.
ENABLE_WEBHOOKS ?= false
export ENABLE_WEBHOOKS

# Only the race detector needs C.
export CGO_ENABLED := 0

MODULE := github.com/example/appservice-operator
# Not to be overridden: undeploy deletes this namespace.
override NAMESPACE := appservice-operator-system
override CRD := appservices.app.example.com
LDFLAGS := -X $(MODULE)/internal/version.Version=$(VERSION)
GENERATED := $(wildcard api/*/zz_generated.*.go config/crd/bases/*.yaml docs/reference/*.md)
# Those of test/contract and test/integration are no unit tests: they have targets of their own.
UNIT_PACKAGES = $(or $(filter-out $(MODULE)/test/contract $(MODULE)/test/integration,$(shell go list ./...)),$(error cannot list the packages))

tool = go tool -modfile='$(CURDIR)/tools/$(1)/go.mod' $(1)
KUSTOMIZE = $(call tool,kustomize)

.NOTPARALLEL:

##@ General

.PHONY: help
help: ## Show this text.
	@echo 'Usage: make TARGET [VARIABLE=value]'
	@while IFS= read -r line; do \
	  case "$$line" in \
	    '##@ '*) printf '\n%s\n' "$${line#'##@ '}" ;; \
	    [a-z]*:*' ## '*) printf '  %-17s %s\n' "$${line%%:*}" "$${line#*' ## '}" ;; \
	  esac; \
	done < '$(firstword $(MAKEFILE_LIST))'

##@ Development

.PHONY: manifests
manifests: ## Generate the CRD from the types in api/.
	go run -C tools/crdgen . -root '$(CURDIR)'

.PHONY: generate
generate: manifests ## Generate everything that is generated: the CRD, the DeepCopy methods, the CRD reference.
	$(call tool,controller-gen) object paths=./api/...
	$(call tool,crd-ref-docs) --source-path=./api --config=docs/reference/crd-ref-docs.yaml --renderer=markdown \
	  --output-path=docs/reference/appservice.md --log-level=ERROR

.PHONY: fmt
fmt: ## Format the Go code.
	go fmt ./...

.PHONY: vet
vet: ## Run go vet.
	go vet ./...

.PHONY: lint
lint: ## Run golangci-lint.
	$(call tool,golangci-lint) run

.PHONY: lint-fix
lint-fix: ## Run golangci-lint and let it repair what it can, imports included.
	$(call tool,golangci-lint) run --fix

.PHONY: lint-chart
lint-chart: ## Run helm lint on the chart.
	$(call tool,helm) lint --strict helm-charts/appservice

.PHONY: verify
verify: ## Check that the generated files are up to date.
	@before=$$(git hash-object $(GENERATED)) && $(MAKE) generate && after=$$(git hash-object $(GENERATED)) || exit; \
	[ "$$before" = "$$after" ] || { echo 'Generated files were out of date. They are new now: commit them.' >&2; exit 1; }

.PHONY: check
check: vet lint lint-chart verify test ## Run all that CI runs.

.PHONY: clean
clean: ## Delete what was built here. Pinned tools and clusters are kept in your cache folder.
	rm -rf bin dist

##@ Tests

.PHONY: test
test: test-unit test-chart test-contract test-integration ## Run the tests of Go code and chart, the contract test, then the integration tests.

.PHONY: test-unit
test-unit: ## Run the unit tests. TESTFLAGS='-run NAME' narrows them.
	@echo '==> Unit tests. The first time, compiling with the race detector takes some minutes.'
	@CGO_ENABLED=1 go test -race -short -timeout=20m $(TESTFLAGS) $(UNIT_PACKAGES) ./test/bench/...
	@echo '==> Unit tests that -short leaves out, without the race detector.'
	@go test $(TESTFLAGS) ./internal/render

.PHONY: test-chart
test-chart: ## Run the chart's own tests, helm-charts/appservice/tests.
	@echo '==> Chart tests.'
	@$(call tool,helm-unittest) --strict helm-charts/appservice

.PHONY: test-contract
test-contract: ## Check that each field of the API does something. CONTRACTFLAGS=-update rewrites docs/reference/fields.md.
	@echo '==> Contract test.'
	@mkdir -p bin && go test -c -o bin/contract.test ./test/contract
	@cd test/contract && '$(CURDIR)/bin/contract.test' $(CONTRACTFLAGS)

.PHONY: golden
golden: ## Write the golden files of test/testdata/cases anew. Review the difference.
	go test ./internal/render -run TestGolden -update

.PHONY: test-integration
test-integration: ## Run the integration tests on a control plane of their own, or on yours: CLUSTER=current.
	@echo '==> Integration tests.'
	@[ "$$CLUSTER" = current ] || go run ./tools/cmd/cluster build
	CGO_ENABLED=1 go test -race -timeout=40m -count=1 -v -parallel=8 $(TESTFLAGS) ./test/integration/...

.PHONY: test-versions
test-versions: ## Run the integration tests on control planes of older Kubernetes, one after the other: OLDER_VERSIONS.
	@results=; failed=0; for version in $(OLDER_VERSIONS); do \
	  echo "==> Kubernetes $$version."; \
	  if $(MAKE) --no-print-directory test-integration CLUSTER= KUBERNETES_VERSION=$$version; then result=ok; \
	  else result=failed; failed=1; fi; \
	  results="$$results $$version=$$result"; \
	done; echo "VERSIONS$$results"; exit $$failed

.PHONY: test-refusals
test-refusals: ## Show what the operator refuses with a condition, and that each refusal heals.
	@echo '==> Refusals.'
	@[ "$$CLUSTER" = current ] || go run ./tools/cmd/cluster build
	@mkdir -p bin && CGO_ENABLED=1 go test -race -c -o bin/integration.test ./test/integration
	@cd test/integration && '$(CURDIR)/bin/integration.test' -test.v -test.parallel=4 -test.run '^TestRefusals$$'

.PHONY: test-diagnosis
test-diagnosis: ## Show that the status says why pods do not run: recorded troubles, then simulated ones, one test each.
	@echo '==> Diagnosis.'
	@[ "$$CLUSTER" = current ] || go run ./tools/cmd/cluster build
	@mkdir -p bin && CGO_ENABLED=1 go test -race -c -o bin/integration.test ./test/integration
	@{ go test -count=1 -v -run '^TestRecorded' ./test/diagnosis ./internal/release; \
	  cd test/integration && '$(CURDIR)/bin/integration.test' -test.v -test.parallel=8 \
	    -test.run '^(TestDiagnosis|TestACrashLoopDoesNotFlap|TestARestartOfTheOperatorChangesNoDiagnosis|TestWhatIsWellIsNotLookedAt)$$'; } 2>&1 | \
	  awk '/^=== RUN   Test[^\/]*\// { causes++ } /^ *--- PASS: Test[^\/]*\// { correct++ } /^(--- )?FAIL|^panic/ { failed = 1 } !/^{/ { print } \
	    END { printf "DIAGNOSIS causes=%d correct=%d\n", causes, correct; exit failed || causes == 0 || causes != correct }'

.PHONY: record-diagnosis
record-diagnosis: ## Record the troubles of test-diagnosis again, on your cluster: a node with the image example.com/subject:1.
	go run ./test/diagnosis/record $(ARGS)

##@ Benchmarks

.PHONY: bench
bench: ## Compare the operator with others in one run. N=1000 is the long one; CONTENDERS=abe, SKIP=alone,drift narrow it.
	@go run ./test/bench

.PHONY: profile
profile: ## Profile CPU and memory of the manager (install, no-op, image change of N) into bin/profiles, and sum up.
	@PROFILE=1 go run ./test/bench

##@ Trying it out

.PHONY: demo
demo: ## Show on a cluster of its own what the operator does, step by step.
	go run ./test/demo

.PHONY: cluster
cluster: ## Bring up a local cluster with simulated nodes (CLUSTER_NAME, NODES) and say how to use it.
	@go run ./tools/cmd/cluster up

.PHONY: cluster-down
cluster-down: ## End that cluster and delete its state.
	@go run ./tools/cmd/cluster down

##@ Build

.PHONY: build
build: ## Build the manager, bin/manager.
	go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/manager ./cmd/manager

.PHONY: run
run: ## Run the manager on this machine against the current cluster. ARGS='--zap-log-level=debug' passes flags.
	go run -ldflags '$(LDFLAGS)' ./cmd/manager $(ARGS)

.PHONY: docker-build
docker-build: ## Build the image IMG.
	$(CONTAINER_TOOL) build --build-arg VERSION='$(VERSION)' --tag '$(IMG)' .

.PHONY: docker-push
docker-push: ## Push the image IMG.
	$(CONTAINER_TOOL) push '$(IMG)'

.PHONY: docker-buildx
docker-buildx: ## Build the image IMG for all PLATFORMS and push it.
	$(CONTAINER_TOOL) buildx inspect appservice-operator >/dev/null 2>&1 || \
	  $(CONTAINER_TOOL) buildx create --name appservice-operator --driver docker-container
	$(CONTAINER_TOOL) buildx build --builder appservice-operator --platform '$(PLATFORMS)' \
	  --build-arg VERSION='$(VERSION)' --tag '$(IMG)' --push .

.PHONY: build-installer
build-installer: ## Write dist/install.yaml: the CRD and the manager with the image IMG.
	@$(call overlay,crd default); mkdir -p dist; \
	{ printf '%s\n' '# Install with: kubectl apply -f install.yaml' \
	  '# This file holds the CRD: kubectl delete -f install.yaml also deletes every AppService and its application.'; \
	  cat "$$dir/all.yaml"; } > dist/install.yaml
	@echo 'Wrote dist/install.yaml.'

##@ Deployment (the current cluster)

.PHONY: install
install: ## Install the CRD.
	$(KUSTOMIZE) build config/crd | $(KUBECTL) apply -f -
	$(KUBECTL) wait --for='jsonpath={.status.acceptedNames.kind}=AppService' --timeout=60s crd/$(CRD)
	$(KUBECTL) wait --for=condition=Established --timeout=60s crd/$(CRD)

.PHONY: uninstall
uninstall: ## Delete the CRD, and with it EVERY AppService and its application.
	@set -e; $(list_apps); \
	echo "AppServices in this cluster: $$#. All of them, and all their applications, go with the CRD."; \
	[ $$# -eq 0 ] || $(KUBECTL) get $(CRD) --all-namespaces; \
	$(KUBECTL) delete crd $(CRD) --ignore-not-found

.PHONY: deploy
deploy: install ## Install the CRD and the manager with the image IMG.
	@$(call overlay,default); $(KUBECTL) apply -f "$$dir/all.yaml"

# The manager goes first, so that it never runs with half of its rights, and the namespace last: if AppServices live in
# it, it stays. The label is one that of all these objects only the namespace has.
.PHONY: undeploy
undeploy: ## Remove the manager and its RBAC. The CRD, the AppServices and their applications stay.
	@$(call overlay,default); $(call list_apps,--namespace=$(NAMESPACE)); \
	$(KUBECTL) delete deployment appservice-operator-controller-manager --namespace=$(NAMESPACE) \
	  --ignore-not-found --cascade=foreground; \
	$(KUBECTL) delete -f "$$dir/all.yaml" --ignore-not-found -l '!pod-security.kubernetes.io/enforce'; \
	if [ $$# -eq 0 ]; then $(KUBECTL) delete namespace $(NAMESPACE) --ignore-not-found; \
	else echo "Namespace $(NAMESPACE) stays: AppServices that live in it: $$#."; fi; \
	echo 'The manager is gone. The CRD stays, and with it every AppService and its application.'

# Builds the named folders of config/, the image IMG in place, into $$dir/all.yaml. The folder $$dir is ignored by git and
# deleted at the end, so the tree stays as it is.
define overlay
set -e; mkdir -p bin; dir=$$(mktemp -d bin/overlay.XXXXXX); trap 'rm -rf "$$dir"' EXIT; \
{ echo 'resources:'; for folder in $(1); do echo "- ../../config/$$folder"; done; } > "$$dir/kustomization.yaml"; \
(cd "$$dir" && $(KUSTOMIZE) edit set image 'controller=$(IMG)'); \
$(KUSTOMIZE) build "$$dir" > "$$dir/all.yaml"
endef

# Makes the names of the AppServices the positional parameters: none where there is no CRD.
define list_apps
apps=$$($(KUBECTL) get crd $(CRD) --ignore-not-found --output=name); \
[ -z "$$apps" ] || apps=$$($(KUBECTL) get $(CRD) $(or $(1),--all-namespaces) --output=name); \
set -- $$apps
endef
