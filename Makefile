# Needed on PATH: Go, make, git and coreutils, and gcc for the tests' race detector. Every other tool is pinned in tools/pins,
# and is downloaded or built from there when it is first used; docker (or CONTAINER_TOOL) is needed for images only. Recipes
# are plain POSIX sh.

VERSION ?= 0.2.0
IMAGE_TAG_BASE ?= example.com/appservice-operator
IMG ?= $(IMAGE_TAG_BASE):v$(VERSION)
# The bundle for OLM, its channels, and the catalog that offers it.
BUNDLE_IMG ?= $(IMAGE_TAG_BASE)-bundle:v$(VERSION)
CATALOG_IMG ?= $(IMAGE_TAG_BASE)-catalog:v$(VERSION)
SCORECARD_IMG ?= $(IMAGE_TAG_BASE)-scorecard:v$(VERSION)
# Where a manager that is deployed has its charts from: configmap, image, or nothing for those in its own image. The image
# CHARTS_IMG and the ConfigMap are made of the folder HELM_CHARTS.
CHARTS ?=
# Components of config/ that make deploy adds: metrics-certificate, certmanager.
COMPONENTS ?=
CHARTS_IMG ?= $(IMAGE_TAG_BASE)-charts:v$(VERSION)
HELM_CHARTS ?= helm-charts
# The namespaces that a manager that is deployed serves, with Roles in these and no ClusterRole; nothing for all of them.
NAMESPACES ?=
# What it may do besides: folders of config/rights, such as gatewayAPI.
RIGHTS ?=
INSTALLER ?= dist/install.yaml
# The registry that make chart-push pushes to, and flags of helm push, as --plain-http.
CHART_REPOSITORY ?=
CHART_PUSH_FLAGS ?=
CHANNELS ?= stable,fast,candidate
DEFAULT_CHANNEL ?= stable
BUNDLE_GEN_FLAGS ?= -q --overwrite --version $(VERSION) --channels=$(CHANNELS) --default-channel=$(DEFAULT_CHANNEL)
# true asks the registry for digests and writes these instead of tags: the images must have been pushed.
USE_IMAGE_DIGESTS ?= false
ifeq ($(USE_IMAGE_DIGESTS), true)
BUNDLE_GEN_FLAGS += --use-image-digests
endif
PLATFORMS ?= linux/amd64,linux/arm64,linux/ppc64le,linux/s390x
CONTAINER_TOOL ?= docker
# The processor that make image-tar builds for.
ARCH ?= amd64
# The versions of Kubernetes that make test-versions runs on; make test runs on the newest.
OLDER_VERSIONS ?= 1.34 1.35
# More arguments for the manager (make run) and for go test (make test).
ARGS ?=
TESTFLAGS ?=
# One plan of make test-faults, or the beginning of the names of several, as in T1/install; and more flags, as in -log.
PLAN ?=
FAULTFLAGS ?=
# Targets that work on a cluster use the current context of your kubeconfig. Without a kubectl, the pinned one is built.
KUBECTL ?= $(if $(shell command -v kubectl 2>/dev/null),kubectl,go run ./tools/cmd/tool kubectl)

# There are no webhooks: the manager accepts the variable and it changes nothing.
ENABLE_WEBHOOKS ?= false
export ENABLE_WEBHOOKS

# Only the race detector needs C.
export CGO_ENABLED := 0
# The flag that pinned tools and the manager are built with, so that all share what Go has compiled.
export GOFLAGS := $(strip -trimpath $(filter-out -trimpath,$(shell go env GOFLAGS)))

MODULE := github.com/example/appservice-operator
# The components of config/ that installations with these variables have.
WANTED = $(COMPONENTS) $(addprefix rights/,$(RIGHTS))
# Not to be overridden: undeploy deletes this namespace.
override NAMESPACE := appservice-operator-system
override CRDS := $(foreach file,$(basename $(notdir $(wildcard config/crd/bases/*.yaml))),$(lastword $(subst _, ,$(file))).$(firstword $(subst _, ,$(file))))
LDFLAGS := -X $(MODULE)/internal/version.Version=$(VERSION)
# Expanded each time: generating may add files.
GENERATED = $(wildcard api/*/zz_generated.*.go internal/cli/lint/builtin.json docs/lint/README.md config/admission/*.yaml config/crd/*.yaml config/crd/bases/*.yaml config/rbac/*.yaml config/rights/*/*.yaml config/namespaced/rights/role.yaml config/samples/kustomization.yaml config/manifests/bases/*.yaml docs/reference/*.md helm-charts/*/values.yaml helm-charts/*/values.schema.json docs/picture.svg bundle.Dockerfile bundle/*/*.yaml bundle/*/*/*.yaml)
# Those of test/chart, test/cli, test/contract, test/fault, test/injection, test/integration, test/monitoring, test/olm, test/security and test/walk are not unit tests: they have targets of their own.
UNIT_PACKAGES = $(or $(filter-out $(addprefix $(MODULE)/test/,chart cli contract fault injection integration monitoring olm security walk),$(shell go list ./...)),$(error cannot list the packages))

tool = go tool -modfile='$(CURDIR)/tools/pins/$(1)/go.mod' $(1)
KUSTOMIZE = $(call tool,kustomize)
OPERATOR_SDK = go run ./tools/cmd/tool operator-sdk
OPM = go run ./tools/cmd/tool opm

comma := ,
empty :=
space := $(empty) $(empty)

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
manifests: ## Generate the CRDs from the types in api/ and the charts of watches.yaml, and the files in config/ that depend on them.
	go run -C tools/crdgen . -root '$(CURDIR)'
	go run ./tools/cmd/kind

.PHONY: kind
kind: ## Make the files that a new kind begins with, KIND=AppJob for example: chart, fields, tests, sample. Then make generate bundle golden.
	@go run ./tools/cmd/kind -new '$(KIND)'

.PHONY: generate
generate: manifests ## Generate all generated files: the CRDs, the DeepCopy methods, the references of CRD, command line and metrics, the picture.
	$(call tool,controller-gen) object paths=./api/...
	$(call tool,crd-ref-docs) --source-path=./api --config=docs/reference/crd-ref-docs.yaml --renderer=markdown \
	  --output-path=docs/reference/appservice.md --log-level=ERROR
	go run ./tools/cmd/reference
	go test ./internal/metrics -run '^TestReference$$' -count=1 -update
	go test ./internal/cli/lint -run '^TestPages$$' -count=1 -update
	go run ./tools/cmd/picture

.PHONY: fmt
fmt: ## Format the Go code.
	go fmt ./...

.PHONY: vet
vet: ## Run go vet.
	go vet ./...
	go vet -C tools/images ./...
	go vet -C tools/sbom ./...

.PHONY: lint
lint: ## Run golangci-lint, and actionlint on the workflows.
	$(call tool,actionlint)
	$(call tool,golangci-lint) run
	cd tools/images && $(call tool,golangci-lint) run
	cd tools/sbom && $(call tool,golangci-lint) run

.PHONY: vuln
vuln: build ## Look up known vulnerabilities of the modules in the manager. If the database cannot be reached, print that and continue.
	@if found=$$($(call tool,govulncheck) -mode=binary bin/manager 2>&1); then echo "$$found"; else \
	  case "$$found" in *'fetching vulnerabilities'*) echo 'govulncheck cannot reach the database of vulnerabilities: nothing was looked up.' ;; \
	  *) echo "$$found" >&2; exit 1 ;; esac; fi

.PHONY: lint-fix
lint-fix: ## Run golangci-lint and let it fix problems, imports included.
	$(call tool,golangci-lint) run --fix

.PHONY: lint-chart
lint-chart: ## Run helm lint on the charts: those that the operator serves, and the installation chart. Check their CEL expressions.
	$(call tool,helm) lint --strict helm-charts/* config/chart
	go test -count=1 ./internal/chart -run '^TestTheChartsHereLoad$$'
	go run ./tools/cmd/checkchart

.PHONY: verify
verify: ## Check that the generated files, the bundle among them, are up to date.
	@before=$$(git hash-object $(GENERATED)) && $(MAKE) generate bundle && after=$$(git hash-object $(GENERATED)) || exit; \
	[ "$$before" = "$$after" ] || { echo 'Generated files were out of date. They are new now: commit them.' >&2; exit 1; }

.PHONY: check
check: vet lint lint-chart vuln verify catalog test test-olm scorecard ## Run all that CI runs.

.PHONY: clean
clean: ## Delete what was built here. Pinned tools and clusters are kept in your cache folder.
	rm -rf bin dist

##@ Tests

.PHONY: test
test: test-unit test-chart test-contract test-alerts test-cli test-security test-faults-sample test-walk ## Run all tests: of Go code, chart, contract and alerts, of each example of the command line, injections, tenant vectors and integration tests, a sample of the faults and of random walks.

.PHONY: test-unit
test-unit: ## Run the unit tests. TESTFLAGS='-run NAME' narrows them.
	@echo '==> Unit tests. The first time, compiling with the race detector takes some minutes.'
	@CGO_ENABLED=1 go test -race -short -timeout=20m $(TESTFLAGS) $(UNIT_PACKAGES) ./test/bench/...
	@echo '==> Unit tests that -short leaves out, without the race detector.'
	@go test $(TESTFLAGS) ./internal/cli/importer ./internal/render ./test/model
	@echo '==> Unit tests of tools that are modules of their own.'
	@go test -C tools/images $(TESTFLAGS) ./...
	@go test -C tools/crdgen $(TESTFLAGS) ./...
	@go test -C tools/sbom $(TESTFLAGS) ./...

.PHONY: test-chart
test-chart: ## Run the charts' own tests, helm-charts/*/tests, and show what chart maintainers rely on. CHARTFLAGS='-test.run=NAME' narrows it.
	@echo '==> Chart tests. The first time, helm-unittest, which runs them, is built: about a minute on 2 cores.'
	@$(call tool,helm-unittest) --strict helm-charts/*
	@echo '==> What chart maintainers rely on.'
	@[ "$$CLUSTER" = current ] || go run ./tools/cmd/cluster build
	@mkdir -p bin && go test -c -o bin/chart.test ./test/chart
	@cd test/chart && '$(CURDIR)/bin/chart.test' -test.timeout=40m -test.parallel=4 $(CHARTFLAGS)

# CLIFLAGS='-test.run=TestExamples/why' narrows it. The parts leave figures in bin/cli.
.PHONY: test-cli
test-cli: ## Run kubectl appservice as users do: each example of its help, and the commands of the pages; last a line CLI.
	@echo '==> kubectl appservice.'
	@[ "$$CLUSTER" = current ] || go run ./tools/cmd/cluster build
	@rm -rf bin/cli && mkdir -p bin/cli && go test -c -o bin/cli.test ./test/cli
	@cd test/cli && CLI_FIGURES='$(CURDIR)/bin/cli' '$(CURDIR)/bin/cli.test' -test.timeout=20m $(CLIFLAGS)
	@CLI_FIGURES='$(CURDIR)/bin/cli' go test -count=1 -run='^TestRules$$' ./internal/cli/lint
	@go test -c -o bin/integration.test ./test/integration
	@cd test/integration && CLI_FIGURES='$(CURDIR)/bin/cli' CLUSTER_NAME=appservice-cli '$(CURDIR)/bin/integration.test' -test.run='^TestRenderIsWhatIsReleased$$'
	@go run ./tools/cmd/figures cli

.PHONY: test-contract
test-contract: ## Check that each field of the API does something. CONTRACTFLAGS=-update rewrites docs/reference/fields.md.
	@echo '==> Contract test.'
	@mkdir -p bin && go test -c -o bin/contract.test ./test/contract
	@cd test/contract && '$(CURDIR)/bin/contract.test' $(CONTRACTFLAGS)

.PHONY: test-injection
test-injection: ## Put special characters of YAML, templates and shells into each text field of the API: only that text may change.
	@echo '==> Injections.'
	@mkdir -p bin && go test -c -o bin/injection.test ./test/injection
	@rm -f bin/security/input
	@cd test/injection && SECURITY_FIGURES='$(CURDIR)/bin/security/input' '$(CURDIR)/bin/injection.test'

.PHONY: test-vectors
test-vectors: ## Act as tenants who try to gain more than their AppServices, each once with its guard off. VECTORFLAGS='-test.run=TestVectors/.*/NAME' narrows it.
	@echo '==> Tenant vectors.'
	@[ "$$CLUSTER" = current ] || go run ./tools/cmd/cluster build
	@rm -f bin/security/vectors
	@mkdir -p bin && go test -c -o bin/security.test ./test/security
	@cd test/security && SECURITY_FIGURES='$(CURDIR)/bin/security/vectors' '$(CURDIR)/bin/security.test' -test.timeout=20m -test.parallel=8 $(VECTORFLAGS)

# The rights that the operator uses are counted in the integration tests.
.PHONY: test-security
test-security: test-injection test-vectors test-integration ## Show that tenants gain no rights, that no text is interpreted, and that no right is unused; last a line SECURITY.
	@go run ./tools/cmd/figures security

# How long each fuzzer runs, and which ones do.
FUZZTIME ?= 1m
FUZZ ?= .
.PHONY: fuzz
fuzz: ## Run each fuzzer for FUZZTIME, FUZZ=Render those of that name. Findings are stored in testdata/fuzz, and every go test runs them.
	@grep -r --include='*_test.go' -o '^func Fuzz[A-Za-z]*' api internal | grep -e '$(FUZZ)' | sort | while IFS=: read -r file name; do \
	  echo "==> $${name#func } of $${file%/*}"; \
	  go test "./$${file%/*}" -run '^$$' -fuzz "^$${name#func }$$" -fuzztime '$(FUZZTIME)' -fuzzminimizetime 10s $(FUZZFLAGS) </dev/null || exit; \
	done

.PHONY: test-alerts
test-alerts: ## Run the cases of the alerts with promtool, and check that the metrics in alerts and dashboards exist.
	@echo '==> Alerts and dashboards.'
	@go run ./tools/cmd/tool promtool --version >/dev/null
	@go test -count=1 $(TESTFLAGS) ./test/monitoring

.PHONY: golden
golden: ## Update the golden files of test/testdata/cases. Review the difference.
	go test ./internal/render -run TestGolden -update

.PHONY: check-chart
check-chart: ## Find the mistakes of the charts here, or of CHART=helm-charts/NAME: load them, and render all golden cases strictly.
	@go run ./tools/cmd/checkchart $(if $(CHART),-chart '$(CHART)')

.PHONY: chart-diff
chart-diff: ## Show the effects of the charts here on the golden cases or, with CLUSTER=current, on the resources there. OLD=COMMIT or folder.
	@go run ./tools/cmd/chartdiff $(if $(OLD),-old '$(OLD)') $(if $(NEW),-new '$(NEW)')

.PHONY: test-integration
test-integration: ## Run the integration tests on a control plane of their own, or on yours: CLUSTER=current.
	@echo '==> Integration tests.'
	@[ "$$CLUSTER" = current ] || go run ./tools/cmd/cluster build
	@go run ./tools/cmd/tool prometheus --version >/dev/null
	@mkdir -p bin/security
	SECURITY_FIGURES='$(CURDIR)/bin/security/rights' CGO_ENABLED=1 $(call tool,gotestsum) --format=standard-verbose --hide-summary=skipped,output -- \
	  -race -timeout=40m -count=1 -parallel=8 $(TESTFLAGS) ./test/integration/...

.PHONY: test-walk
test-walk: WALKS = -seed=5 -walks=5 -steps=5
test-walk: test-walks ## Take a few random walks, always the same ones.

.PHONY: test-walks
WALKS ?= -seed=1 -walks=100 -steps=12
test-walks: ## Take AppServices on random walks with other writers, and compare each with a fresh install. WALKS='-seed=7 -walks=9'.
	@echo '==> Random walks.'
	@[ "$$CLUSTER" = current ] || go run ./tools/cmd/cluster build
	@mkdir -p bin && CGO_ENABLED=1 go test -race -c -o bin/walk.test ./test/walk
	@cd test/walk && '$(CURDIR)/bin/walk.test' -test.timeout=2h -test.parallel=5 $(WALKS)

.PHONY: test-model
test-model: ## Explore all sequences of DEPTH events on a small resource. 3 takes minutes, 4 takes hours.
	@echo '==> Model.'
	go test -count=1 -timeout=12h -v ./test/model -depth=$(or $(DEPTH),3)

# How many plans run at a time. Nearly all of them wait: for retries of the operator, and for other plans.
FAULT_PARALLEL := 96

.PHONY: test-faults
test-faults: ## Break the operator at each of its requests, and in other ways: docs/reliability.md. PLAN=NAME,… runs some again.
	@echo '==> Faults.'
	@go run ./tools/cmd/cluster build
	@mkdir -p bin && go test -c -o bin/fault.test ./test/fault
	@cd test/fault && '$(CURDIR)/bin/fault.test' -test.timeout=90m -test.parallel=$(FAULT_PARALLEL) -plan='$(PLAN)' $(FAULTFLAGS)

.PHONY: test-size
test-size: ## Fill the manager with N=1000 of the largest AppServices of each shape; SHAPE=references for one. Takes an hour.
	@echo '==> Size.'
	@go run ./tools/cmd/cluster build
	@mkdir -p bin && go test -c -o bin/size.test ./test/integration
	@cd test/integration && SIZE_FLEET=$(or $(N),1000) '$(CURDIR)/bin/size.test' -test.v -test.timeout=3h -test.run='^TestAThousandOfTheLargestFit$$/$(SHAPE)|^TestManyClaimsFit$$'

.PHONY: test-faults-stock
test-faults-stock: ## Put the stock library through campaign T1 with the same chart, and count what goes wrong.
	@go run ./tools/cmd/cluster build
	@mkdir -p bin && go test -c -o bin/fault.test ./test/fault
	@cd test/fault && '$(CURDIR)/bin/fault.test' -test.timeout=60m -test.parallel=$(FAULT_PARALLEL) -test.v -test.run='^TestStock$$' -stock

.PHONY: test-faults-sample
test-faults-sample: ## Run every 40th plan of test-faults, with the race detector.
	@echo '==> A sample of the faults.'
	@go run ./tools/cmd/cluster build
	@mkdir -p bin && CGO_ENABLED=1 go test -race -c -o bin/fault-race.test ./test/fault
	@cd test/fault && '$(CURDIR)/bin/fault-race.test' -test.timeout=20m -test.parallel=$(FAULT_PARALLEL) -every=40 $(FAULTFLAGS)

.PHONY: test-olm
test-olm: ## Install, upgrade and remove the operator through a Subscription, with OLM, on a control plane of its own.
	@echo '==> OLM.'
	@go run ./tools/cmd/cluster build
	go test -timeout=20m -count=1 -v $(TESTFLAGS) ./test/olm

.PHONY: test-versions
test-versions: ## Run the integration tests on control planes of older Kubernetes, one after the other: OLDER_VERSIONS.
	@results=; failed=0; for version in $(OLDER_VERSIONS); do \
	  echo "==> Kubernetes $$version."; \
	  if $(MAKE) --no-print-directory test-integration CLUSTER= KUBERNETES_VERSION=$$version; then result=ok; \
	  else result=failed; failed=1; fi; \
	  results="$$results $$version=$$result"; \
	done; echo "VERSIONS$$results"; exit $$failed

.PHONY: test-node
test-node: ## Take a real node through its life: it comes up, restarts, ends and leaves nothing (Linux, root).
	NODE_TEST=1 go test -count=1 -run '^TestLife$$' ./tools/node

.PHONY: e2e
e2e: ## Show that images, OLM and the operator work with real pods: on a node of its own (Linux, root; test-images first), or on KUBECONFIG's (LOAD). E2EFLAGS='-run=NAME' narrows it.
	@[ "$$(id -u)" != 0 ] || [ -n '$(E2EFLAGS)' ] || $(MAKE) --no-print-directory test-images
	@go run ./test/e2e $(E2EFLAGS)

# No registry is asked but one on the loopback address. IMAGESFLAGS='-run=charts' narrows it.
.PHONY: test-images
test-images: ## Run each Dockerfile with buildah and compare the images with what tools/images makes; make the files of a release (Linux; root if buildah is missing).
	@go run -C tools/images ./dockerfiles $(IMAGESFLAGS)

.PHONY: test-refusals
test-refusals: ## Show what the operator refuses with a condition, and that each refusal heals.
	@echo '==> Refusals.'
	@[ "$$CLUSTER" = current ] || go run ./tools/cmd/cluster build
	@mkdir -p bin && CGO_ENABLED=1 go test -race -c -o bin/integration.test ./test/integration
	@cd test/integration && '$(CURDIR)/bin/integration.test' -test.v -test.parallel=4 -test.run '^TestRefusals$$'

.PHONY: test-ready
test-ready: ## Check Ready for each kind of object; kstatus, Argo CD and kubectl wait have to agree.
	@echo '==> Ready.'
	@mkdir -p bin && go test -c -o bin/ready.test ./test/ready
	@cd test/ready && '$(CURDIR)/bin/ready.test'

.PHONY: test-diagnosis
test-diagnosis: ## Show that the status explains why pods do not run: recorded failures, then simulated ones, one test each.
	@echo '==> Diagnosis.'
	@[ "$$CLUSTER" = current ] || go run ./tools/cmd/cluster build
	@mkdir -p bin && CGO_ENABLED=1 go test -race -c -o bin/integration.test ./test/integration
	@{ go test -count=1 -v -run '^TestRecorded' ./test/diagnosis ./internal/controller/release; \
	  cd test/integration && '$(CURDIR)/bin/integration.test' -test.v -test.parallel=8 \
	    -test.run '^(TestDiagnosis|TestACrashLoopDoesNotFlap|TestARestartOfTheOperatorChangesNoDiagnosis|TestWhatIsWellIsNotLookedAt)$$'; } 2>&1 | \
	  awk '/^=== RUN   Test[^\/]*\// { causes++ } /^ *--- PASS: Test[^\/]*\// { correct++ } /^(--- )?FAIL|^panic/ { failed = 1 } !/^{/ { print } \
	    END { printf "DIAGNOSIS causes=%d correct=%d\n", causes, correct; exit failed || causes == 0 || causes != correct }'

.PHONY: record-diagnosis
record-diagnosis: ## Record the failures of test-diagnosis again, on your cluster: a node with the image example.com/subject:1.
	go run ./test/diagnosis/record $(ARGS)

##@ Documentation

.PHONY: docs
docs: ## Build the site of docs/ into bin/site. It fails for a dead link, and for a page that no other one links to. Needs mkdocs and mkdocs-material.
	@go test -count=1 ./test/packaging -run '^(TestLinksLeadSomewhere|TestEachDocumentCanBeReached|TestTheSiteHasEachPage)$$'
	@command -v mkdocs >/dev/null || { echo 'There is no mkdocs: apt-get install --no-install-recommends mkdocs mkdocs-material' >&2; exit 1; }
	@mkdocs build --strict --quiet && echo 'The site is in bin/site: bin/site/index.html.'

##@ Benchmarks

.PHONY: bench
bench: ## Compare the operator with others in one run; DOCS=1 publishes it. N=1000 is the long one; CONTENDERS=abe, SKIP=alone,drift narrow it; ADMISSION=1 installs config/admission.
	@go run ./test/bench

.PHONY: profile
profile: ## Profile CPU and memory of the manager (install, no-op, image change of N) into bin/profiles, and sum up.
	@PROFILE=1 go run ./test/bench

##@ Trying it out

.PHONY: demo
demo: ## Show on a cluster of its own what the operator does, step by step.
	go run ./test/demo

.PHONY: cluster
cluster: ## Bring up a local cluster with simulated nodes (CLUSTER_NAME, NODES) and print how to use it.
	@go run ./tools/cmd/cluster up

.PHONY: cluster-down
cluster-down: ## End that cluster and delete its state.
	@go run ./tools/cmd/cluster down

.PHONY: node
node: ## Bring up a local cluster of one real node (NODE_NAME; Linux, root) and print how to use it.
	@go run ./tools/cmd/node up

.PHONY: node-down
node-down: ## End that cluster and delete its state.
	@go run ./tools/cmd/node down

##@ Build

.PHONY: build
build: ## Build the manager, bin/manager.
	go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/manager ./cmd/manager

.PHONY: cli
cli: ## Build kubectl appservice for linux, darwin and windows on amd64 and arm64: archives, checksums and a manifest for krew in dist/cli. CLI_PLATFORMS=linux/amd64 narrows it.
	@go run ./tools/cmd/cli -version '$(VERSION)' -out dist/cli $(if $(CLI_PLATFORMS),-only '$(CLI_PLATFORMS)')

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

.PHONY: image-tar
image-tar: ## Build the image IMG for linux/ARCH from files, without a container engine, as an archive in dist.
	@mkdir -p dist
	@go run -C tools/images . -arch '$(ARCH)' -version '$(VERSION)' -tag '$(IMG)' \
	  -out '$(CURDIR)/dist/appservice-operator-$(VERSION)-linux-$(ARCH).tar' manager

.PHONY: sbom
sbom: build ## Write the SBOM of the manager from its build information: dist/appservice-operator-VERSION.spdx.json and .cdx.json.
	@mkdir -p dist && go run -C tools/sbom . -version '$(VERSION)' -created "$$(git log -1 --format=%ct)" \
	  -out '$(CURDIR)/dist/appservice-operator-$(VERSION)' '$(CURDIR)/bin/manager'

.PHONY: test-reproducible
test-reproducible: ## Build the manager and its image twice, in two folders: the digests must be the same.
	@go test -C tools/images -count=1 -v -run '^(TestManager|TestTheSameSourcesElsewhere)$$' .

.PHONY: build-installer
build-installer: ## Write INSTALLER, dist/install.yaml: the CRD and the manager with the image IMG, for NAMESPACES, with RIGHTS; and admission.yaml, the admission policies alone, for OLM.
	@$(call overlay,crd default admission,,,$(WANTED),$(NAMESPACES)); mkdir -p '$(dir $(INSTALLER))'; \
	{ printf '%s\n' '# Install with: kubectl apply -f install.yaml' \
	  '# This file holds the CRD: kubectl delete -f install.yaml also deletes every AppService and its application.'; \
	  cat "$$dir/all.yaml"; } > '$(INSTALLER)'; \
	$(KUSTOMIZE) build config/admission > '$(dir $(INSTALLER))admission.yaml'
	@echo 'Wrote $(INSTALLER) and $(dir $(INSTALLER))admission.yaml.'

.PHONY: build-chart
build-chart: ## Package the Helm chart that installs the operator: dist/appservice-operator-VERSION.tgz.
	@mkdir -p dist && $(call tool,helm) package config/chart --version '$(VERSION)' --app-version '$(VERSION)' --destination dist

.PHONY: chart-push
chart-push: build-chart ## Push that package to CHART_REPOSITORY, a registry of OCI artifacts such as oci://ghcr.io/OWNER/charts.
	@: $(or $(CHART_REPOSITORY),$(error CHART_REPOSITORY is missing: make chart-push CHART_REPOSITORY=oci://ghcr.io/OWNER/charts))
	$(call tool,helm) push 'dist/appservice-operator-$(VERSION).tgz' '$(CHART_REPOSITORY)' $(CHART_PUSH_FLAGS)

.PHONY: release-notes
release-notes: ## Write dist/release-notes.md: the section of CHANGELOG.md about VERSION.
	@mkdir -p dist && awk -v version='$(VERSION)' '/^## /{found=($$2 == version)} found' CHANGELOG.md > dist/release-notes.md
	@test -s dist/release-notes.md || { echo 'CHANGELOG.md has no section that begins with "## $(VERSION)"' >&2; exit 1; }

# The processors that a release has archives of the image for.
IMAGE_ARCHS ?= amd64 arm64

.PHONY: image-tars
image-tars: ## Build the archives of make image-tar for all of IMAGE_ARCHS, named after VERSION.
	@for arch in $(IMAGE_ARCHS); do \
	  $(MAKE) --no-print-directory image-tar ARCH="$$arch" IMG='$(IMAGE_TAG_BASE):v$(VERSION)' || exit; done

# The files that a release publishes, below dist. The command lines are those of CLI_PLATFORMS.
RELEASE_FILES = install.yaml admission.yaml appservice-operator-$(VERSION).* $(IMAGE_ARCHS:%=appservice-operator-$(VERSION)-linux-%.tar) \
  $$(find cli -name '*.tar.gz' -o -name '*.zip' -o -name appservice.yaml | sort)

.PHONY: release-files
release-files: sbom build-installer build-chart image-tars cli release-notes ## Write all files of a release with the image IMG to dist: installers, chart, archives of the image, SBOMs, command lines, notes, checksums.
	@cd dist && sha256sum $(RELEASE_FILES) > checksums.txt && sha256sum --quiet --check checksums.txt && cat checksums.txt

.PHONY: package-charts
package-charts: ## Package the charts that the operator serves for a ConfigMap: dist/charts/NAME.tgz.
	@rm -rf dist/charts; $(call package,dist/charts); ls dist/charts/*

.PHONY: charts-build
charts-build: ## Build the image CHARTS_IMG, of the charts that the operator serves, for an image volume.
	$(CONTAINER_TOOL) build --file charts.Dockerfile --tag '$(CHARTS_IMG)' '$(dir $(abspath $(HELM_CHARTS)))'

.PHONY: charts-push
charts-push: ## Push the image CHARTS_IMG.
	$(CONTAINER_TOOL) push '$(CHARTS_IMG)'

##@ Bundle and catalog (OLM)

# A pipe, since generate bundle takes nothing else; kustomize keeps the order of the samples, of which consoles offer the first.
.PHONY: bundle
bundle: manifests ## Generate bundle/ for the image IMG and validate it.
	@$(OPERATOR_SDK) generate kustomize manifests -q
	@go run ./tools/cmd/kind
	@rm -rf bundle/manifests bundle/metadata bundle/tests
	@$(call overlay,manifests,fifo); \
	cat "$$dir/all.yaml" | $(OPERATOR_SDK) generate bundle $(BUNDLE_GEN_FLAGS)
	@go run ./tools/cmd/bundle -scorecard-image '$(SCORECARD_IMG)'
	@$(MAKE) --no-print-directory bundle-validate

# The suite, and what OperatorHub.io and community-operators ask for besides. These two say of themselves that they are deprecated.
VALIDATORS := suite=operatorframework name=operatorhub name=community

.PHONY: bundle-validate
bundle-validate: ## Validate bundle/ with VALIDATORS. A warning is a failure.
	@mkdir -p bin; for validator in $(VALIDATORS); do \
	  $(OPERATOR_SDK) bundle validate ./bundle --select-optional "$$validator" 2>bin/validate.log; status=$$?; \
	  sed "s/^/$$validator: /" bin/validate.log >&2; \
	  [ $$status -eq 0 ] && ! grep 'level=warning' bin/validate.log | grep -qv 'validator is deprecated' || exit 1; \
	done

.PHONY: bundle-build
bundle-build: ## Build the bundle's image BUNDLE_IMG.
	$(CONTAINER_TOOL) build --file bundle.Dockerfile --tag '$(BUNDLE_IMG)' .

.PHONY: bundle-push
bundle-push: ## Push the bundle's image BUNDLE_IMG.
	$(CONTAINER_TOOL) push '$(BUNDLE_IMG)'

# With SCORECARDFLAGS=-pods and KUBECONFIG, the operator must be in that cluster, and the images must be too unless LOAD brings them.
.PHONY: scorecard
scorecard: ## Run the scorecard's tests and ours on bundle/, without containers. SCORECARDFLAGS=-pods: as pods (Linux, root, or KUBECONFIG).
	@go run ./test/scorecard/run $(SCORECARDFLAGS)

.PHONY: scorecard-build
scorecard-build: ## Build the image of our scorecard tests, SCORECARD_IMG.
	$(CONTAINER_TOOL) build --file test/scorecard/Dockerfile --tag '$(SCORECARD_IMG)' .

.PHONY: scorecard-push
scorecard-push: ## Push the image SCORECARD_IMG.
	$(CONTAINER_TOOL) push '$(SCORECARD_IMG)'

.PHONY: catalog
catalog: ## Render catalog/template.yaml into dist/catalog and validate it. The bundles in it are folders: no registry is asked.
	@CGO_ENABLED=0 go run -C tools/pins/opm -tags containers_image_openpgp,json1 ./render -root '$(CURDIR)' $(CATALOG_FLAGS) \
	  catalog/template.yaml dist/catalog/appservice-operator
	@$(OPM) validate dist/catalog && echo 'The catalog is valid.'

.PHONY: catalog-build
catalog-build: CATALOG_FLAGS = -images '$(IMAGE_TAG_BASE)-bundle'
catalog-build: catalog ## Build the catalog's image CATALOG_IMG. It names the bundles' images, which must have been pushed.
	$(CONTAINER_TOOL) build --file catalog.Dockerfile --tag '$(CATALOG_IMG)' .

.PHONY: catalog-push
catalog-push: ## Push the catalog's image CATALOG_IMG.
	$(CONTAINER_TOOL) push '$(CATALOG_IMG)'

##@ Deployment (the current cluster)

.PHONY: install
install: ## Install the CRDs.
	$(KUSTOMIZE) build config/crd | $(KUBECTL) apply -f -
	@for crd in $(CRDS); do \
	  $(KUBECTL) wait --for="jsonpath={.status.acceptedNames.plural}=$${crd%%.*}" --timeout=60s crd/$$crd && \
	  $(KUBECTL) wait --for=condition=Established --timeout=60s crd/$$crd || exit; \
	done

.PHONY: uninstall
uninstall: ## Delete the CRDs, and with them EVERY resource of these kinds and its application.
	@set -e; $(list_apps); \
	echo "Resources of this operator in this cluster: $$#. All of them, and all their applications, go with the CRDs."; \
	[ $$# -eq 0 ] || for crd in $$crds; do $(KUBECTL) get $${crd##*/} --all-namespaces; done; \
	$(KUBECTL) delete crd $(CRDS) --ignore-not-found

.PHONY: deploy
deploy: install ## Install the CRDs, the admission policies and the manager with the image IMG. CHARTS=configmap or CHARTS=image: with charts from a ConfigMap or an image; COMPONENTS=certmanager, NAMESPACES, RIGHTS.
	@$(call overlay,default admission,,$(CHARTS),$(WANTED),$(NAMESPACES)); $(KUBECTL) apply -f "$$dir/all.yaml"

.PHONY: deploy-charts
deploy-charts: ## Put the charts of HELM_CHARTS into the ConfigMap that a manager of make deploy CHARTS=configmap serves.
	@set -e; mkdir -p bin; dir=$$(mktemp -d bin/charts.XXXXXX); trap 'rm -rf "$$dir"' EXIT; $(call package,$$dir); \
	$(KUBECTL) create configmap appservice-operator-charts --namespace=$(NAMESPACE) --from-file="$$dir" --dry-run=client --output=yaml | \
	  $(KUBECTL) apply -f -

# The manager goes first, so that it never runs with half of its rights, and the namespace last: if resources live in
# it, it stays. The label is one that of all these objects only the namespace has.
.PHONY: undeploy
undeploy: ## Remove the manager, its RBAC and the admission policies. The CRDs, their resources and the applications stay.
	@$(call overlay,default admission,,$(CHARTS),$(WANTED),$(NAMESPACES)); $(call list_apps,--namespace=$(NAMESPACE)); \
	$(KUBECTL) delete deployment appservice-operator-controller-manager --namespace=$(NAMESPACE) \
	  --ignore-not-found --cascade=foreground; \
	$(KUBECTL) delete -f "$$dir/all.yaml" --ignore-not-found -l '!pod-security.kubernetes.io/enforce'; \
	if [ $$# -eq 0 ]; then $(KUBECTL) delete namespace $(NAMESPACE) --ignore-not-found; \
	else echo "Namespace $(NAMESPACE) stays: resources of this operator that live in it: $$#."; fi; \
	echo 'The manager is gone. The CRDs stay, and with them every resource and its application.'

# Builds the named folders of config/, the image IMG in place, into $$dir/all.yaml, in legacy order or in that of its
# second argument; with charts from where the third one says, the components of the fourth, and for the namespaces of the fifth. The
# folder $$dir is ignored by git and deleted at the end, so the tree stays as it is.
define overlay
set -e; mkdir -p bin; dir=$$(mktemp -d bin/overlay.XXXXXX); trap 'rm -rf "$$dir"' EXIT; \
for namespace in $(5); do mkdir "$$dir/$$namespace"; \
  printf 'namespace: %s\nresources: [../../../config/namespaced/rights]\n' "$$namespace" > "$$dir/$$namespace/kustomization.yaml"; done; \
{ echo 'resources:'; for folder in $(1); do echo "- ../../config/$$folder"; done; for namespace in $(5); do echo "- $$namespace"; done; \
  echo 'components:'; for folder in $(if $(3),chart-$(3)) $(4) $(if $(strip $(5)),namespaced); do echo "- ../../config/$$folder"; done; \
  if [ -n '$(strip $(5))' ]; then echo 'patches:'; echo '- target: {kind: Deployment, name: controller-manager}'; \
  echo '  patch: "- {op: replace, path: /spec/template/spec/containers/0/env/0/value, value: \"$(subst $(space),$(comma),$(strip $(5)))\"}"'; fi; \
  echo 'sortOptions: {order: $(or $(2),legacy)}'; } > "$$dir/kustomization.yaml"; \
$(if $(filter configmap,$(3)),$(call package,$$dir/charts); (cd "$$dir" && $(KUSTOMIZE) edit add configmap appservice-operator-charts \
  --namespace=$(NAMESPACE) --disableNameSuffixHash --from-file='charts/*.tgz');) \
(cd "$$dir" && $(KUSTOMIZE) edit set image 'controller=$(IMG)' $(if $(filter image,$(3)),'charts=$(CHARTS_IMG)')); \
$(KUSTOMIZE) build "$$dir" > "$$dir/all.yaml"
endef

# Packages the charts of HELM_CHARTS into a folder. Each has the name of its own folder there, which watches.yaml knows it by.
define package
for chart in '$(HELM_CHARTS)'/*; do mkdir -p "$(1)"; partial=$$(mktemp -d "$(1)/XXXXXX"); \
  $(call tool,helm) package "$$chart" --destination "$$partial" >/dev/null || exit; \
  mv "$$partial"/*.tgz "$(1)/$$(basename "$$chart").tgz" && rmdir "$$partial" || exit; done
endef

# Makes the names of all resources of this operator the positional parameters, and those of the CRDs that are there $$crds.
define list_apps
crds=$$($(KUBECTL) get crd $(CRDS) --ignore-not-found --output=name); apps=; \
for crd in $$crds; do names=$$($(KUBECTL) get $${crd##*/} $(or $(1),--all-namespaces) --output=name); apps="$$apps $$names"; done; \
set -- $$apps
endef
