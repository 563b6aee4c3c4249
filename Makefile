# Needed on PATH: Go, make, git and coreutils, and gcc for the tests' race detector. Every other tool is pinned in tools/pins,
# and is downloaded or built from there when it is first used; docker (or CONTAINER_TOOL) is needed for images only. What takes
# more than a few commands is a Go program in tools/cmd.

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
# More arguments for the manager (make run). Those of tests, as TESTFLAGS and PLAN, are read by tools/suites.
ARGS ?=
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
# Generated files are those that .gitattributes marks as such.
GENERATED = $(shell git ls-files ':(attr:linguist-generated)')
# The charts that were written for this operator.
OWN_CHARTS = $(filter-out $(shell go run ./tools/cmd/kind -published),$(wildcard helm-charts/*))
LDFLAGS := -X $(MODULE)/internal/version.Version=$(VERSION)
RELEASE := appservice-operator-$(VERSION)

tool = go tool -modfile='$(CURDIR)/tools/pins/$(1)/go.mod' $(1)
OPERATOR_SDK = go run ./tools/cmd/tool operator-sdk
OPM = go run ./tools/cmd/tool opm
SUITE = go run ./tools/cmd/suite
DEPLOY = go run ./tools/cmd/deploy -image '$(IMG)' -charts '$(CHARTS)' -charts-image '$(CHARTS_IMG)' \
  -helm-charts '$(HELM_CHARTS)' -components '$(WANTED)' -namespaces '$(NAMESPACES)' -kubectl '$(KUBECTL)'

.NOTPARALLEL:
# A target that depends on it runs always.
.PHONY: FORCE
FORCE:

##@ General

.PHONY: help
help: ## Show this text.
	@echo 'Usage: make TARGET [VARIABLE=value]'
	@awk -F ':.*## ' '/^##@ / {print "\n" substr($$0, 5)} /^[a-z][a-z0-9%-]*:.*## / {printf "  %-15s %s\n", $$1, $$2}' Makefile
	@echo 'Suites, each by make test-SUITE:' && $(SUITE)

##@ Development

.PHONY: manifests kind generate injectors fmt vet lint lint-fix lint-chart vuln verify ci clean golden check-chart chart-diff docs
# The CRDs from the types in api/ and the charts of watches.yaml, and the files in config/ that depend on them.
manifests:
	go run -C tools/crdgen . -root '$(CURDIR)'
	go run ./tools/cmd/kind

# FROM=CHART takes a chart of others, a folder or a package, as it was published; KIND, GROUP and NAMES of resources may be left out.
kind: ## Make the files that a new kind begins with, KIND=AppJob, or FROM=CHART. Then make generate check-chart golden.
	@go run ./tools/cmd/kind -new '$(KIND)' -from '$(FROM)' -group '$(GROUP)' -names '$(NAMES)'

generate: manifests ## Generate CRDs, DeepCopy methods, references.
	$(call tool,controller-gen) object paths=./api/...
	$(call tool,crd-ref-docs) --source-path=./api --config=docs/reference/crd-ref-docs.yaml --renderer=markdown \
	  --output-path=docs/reference/appservice.md --log-level=ERROR
	go run ./tools/cmd/reference
	go test ./internal/operator/metrics -run '^TestReference$$' -count=1 -update
	go test ./internal/plugin/lint -run '^TestPage$$' -count=1 -update

# The keys of injectors that the built-in policy decides on: run it after a bump of tools/pins/injectors.
injectors:
	@mkdir -p bin
	go run ./tools/cmd/injectorkeys > bin/injectors.yaml && mv bin/injectors.yaml internal/operator/policy/testdata/injectors.yaml

fmt:
	go fmt ./...

vet: ## Run go vet, with the tests that need a cluster and without them.
	go vet ./...
	go vet -tags cluster ./...
	go vet -C tools/crdgen ./...
	go vet -C tools/images -tags cluster ./...
	go vet -C tools/sbom ./...
	go vet -C config/samples/shop ./...
	go vet -C test/helm4 ./...
	go vet -C test/dashboard -tags cluster ./...

lint: ## Check Go code, workflows, and the English of documents and comments.
	go run ./tools/cmd/wording
	$(call tool,actionlint)
	$(call tool,golangci-lint) run
	cd tools/crdgen && $(call tool,golangci-lint) run
	cd tools/images && $(call tool,golangci-lint) run
	cd tools/sbom && $(call tool,golangci-lint) run
	cd config/samples/shop && $(call tool,golangci-lint) run
	cd test/helm4 && $(call tool,golangci-lint) run
	cd test/dashboard && $(call tool,golangci-lint) run

# Lets golangci-lint fix problems, imports included.
lint-fix:
	$(call tool,golangci-lint) run --fix

# Run helm lint on all charts, and check the CEL expressions of those that the operator serves.
lint-chart:
	$(call tool,helm) lint --strict $(OWN_CHARTS) config/chart
	go test -count=1 ./internal/engine/chart -run '^TestTheChartsHereLoad$$'
	@$(MAKE) --no-print-directory check-chart

vuln: ## Look up known vulnerabilities of the modules and the standard library in the programs.
	@$(SUITE) vuln

verify: ## Check that the generated files, the bundle among them, are up to date.
	@mkdir -p bin && git hash-object $(GENERATED) > bin/generated
	@$(MAKE) generate bundle
	@git hash-object $(GENERATED) | cmp -s - bin/generated || \
	  { echo 'Generated files were out of date. They are new now: commit them.' >&2; exit 1; }

ci: vet lint lint-chart vuln verify catalog test check test-helm4 test-olm scorecard ## Run what CI runs, without its job of the race detector, make test-unit-race test-integration.

# Delete what was built here. Pinned tools and clusters are kept in your cache folder.
clean:
	rm -rf bin dist

golden: ## Update the golden files of test/testdata/cases. Review the difference.
	go test ./internal/engine/render -run TestGolden -update

CASES := test/testdata/cases/*/cr.yaml test/testdata/kinds/*/*/cr.yaml
check-chart: ## Find the mistakes of our own charts here, or of CHART=helm-charts/NAME, with all golden cases.
	@go run ./cmd/kubectl-appservice lint --all-cases $(or $(CHART),$(OWN_CHARTS)) $(patsubst %,-f %,$(wildcard $(CASES)))

chart-diff: ## Show the effects of the charts here on the golden cases or, with CLUSTER=current, on a cluster. OLD=COMMIT or folder.
	@go run ./tools/cmd/chartdiff $(if $(OLD),-old '$(OLD)') $(if $(NEW),-new '$(NEW)')

docs: ## Build the site of docs/ into bin/site. Needs mkdocs and mkdocs-material; fails for dead links and lost pages.
	@go test -count=1 ./test/packaging -run '^(TestLinksLeadSomewhere|TestEachDocumentCanBeReached|TestTheSiteHasEachPage)$$'
	@command -v mkdocs >/dev/null || { echo 'apt-get install --no-install-recommends mkdocs mkdocs-material' >&2; exit 1; }
	@mkdocs build --strict --quiet && echo 'The site is in bin/site: bin/site/index.html.'

##@ Tests (go test ./... runs the unit tests)

.PHONY: test check e2e fuzz record-diagnosis screenshots
test: ## Run what a change should see: unit tests, contract, command line, integration.
	@$(SUITE) test

check: ## Run other tests: charts, alerts, security; with the race detector a sample of integration tests, faults, random walks.
	@$(SUITE) check

test-%: FORCE ## Run one suite, as make test-integration TESTFLAGS='-run NAME', make test-faults PLAN=T1/install.
	@$(SUITE) $*

fuzz: ## Run each fuzzer for FUZZTIME, FUZZ=Render those of that name. Findings are stored in testdata/fuzz.
	@$(SUITE) fuzz

screenshots: ## Take the pictures of the dashboard, docs/dashboard*.png (Debian, root).
	@SCREENSHOTS="$(CURDIR)/docs" $(SUITE) dashboard

# With E2EFLAGS='-run=NAME' only some checks run. Another cluster is KUBECONFIG's, LOAD brings images there.
e2e: $(if $(E2EFLAGS),,$(if $(filter 0,$(shell id -u)),test-images)) ## Test images, OLM and operator with real pods (Linux, root).
	@go run ./test/e2e $(E2EFLAGS)

record-diagnosis: ## Record failures of pods again, on your cluster, which has a node with the image example.com/subject:1.
	go run ./test/diagnosis/record $(ARGS)

##@ Benchmarks

.PHONY: bench bench-crd profile
bench: ## Compare the operator with others: N=1000, PODS=1, ROUNDS=3, CONTENDERS=abe, SKIP=alone,drift, ADMISSION=1; DOCS=1 publishes it.
	@go run ./test/bench

bench-crd: ## Measure a write of an AppService, with and without the rules of its CRD: REQUESTS=200, ROUNDS=11.
	@go run ./test/bench/crd

# CPU and memory of the manager (install, no-op, image change of N), into bin/profiles.
profile:
	@PROFILE=1 go run ./test/bench

##@ Trying it out

.PHONY: demo recording cluster cluster-down node node-down
demo: ## Show on a cluster of its own what the operator does, step by step. KEEP=1 leaves it running.
	go run ./test/demo

recording: ## Record the typo of make demo, docs/recording.svg.
	@mkdir -p bin && go run ./test/demo | tee bin/demo.txt
	@go run ./tools/cmd/recording 'Give it an image' < bin/demo.txt > bin/recording.svg && mv bin/recording.svg docs/recording.svg

cluster: ## Bring up a local cluster with simulated nodes (CLUSTER_NAME, NODES) and print how to use it.
	@go run ./tools/cmd/cluster up

cluster-down: ## End that cluster and delete its state.
	@go run ./tools/cmd/cluster down

node: ## Bring up a local cluster of one real node (NODE_NAME; Linux, root) and print how to use it.
	@go run ./tools/cmd/node up

# End that cluster and delete its state.
node-down:
	@go run ./tools/cmd/node down

##@ Build

.PHONY: build cli run docker-build docker-push docker-buildx image-tar image-tars sbom build-installer build-chart chart-push
build: ## Build the manager, bin/manager.
	go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/manager ./cmd/manager

cli: ## Build kubectl appservice for all platforms, or those of CLI_PLATFORMS=linux/amd64: archives and a krew manifest in dist/cli.
	@go run ./tools/cmd/cli -version '$(VERSION)' -out dist/cli $(if $(CLI_PLATFORMS),-only '$(CLI_PLATFORMS)')

run: ## Run the manager on this machine against the current cluster. ARGS='--zap-log-level=debug' passes flags.
	go run -ldflags '$(LDFLAGS)' ./cmd/manager $(ARGS)

docker-build: ## Build the image IMG.
	$(CONTAINER_TOOL) build --build-arg VERSION='$(VERSION)' --tag '$(IMG)' .

# Push the image IMG.
docker-push:
	$(CONTAINER_TOOL) push '$(IMG)'

docker-buildx: ## Build the image IMG for all PLATFORMS and push it.
	$(CONTAINER_TOOL) buildx inspect appservice-operator >/dev/null 2>&1 || \
	  $(CONTAINER_TOOL) buildx create --name appservice-operator --driver docker-container
	$(CONTAINER_TOOL) buildx build --builder appservice-operator --platform '$(PLATFORMS)' \
	  --build-arg VERSION='$(VERSION)' --tag '$(IMG)' --push .

image-tar: ## Build the image IMG for linux/ARCH from files, without a container engine, as an archive in dist.
	@mkdir -p dist
	@go run -C tools/images . -arch '$(ARCH)' -version '$(VERSION)' -tag '$(IMG)' \
	  -out '$(CURDIR)/dist/$(RELEASE)-linux-$(ARCH).tar' manager

# The processors that a release has archives of the image for.
IMAGE_ARCHS ?= amd64 arm64
image-tars: $(IMAGE_ARCHS:%=image-tar-%) ## Build these archives for all processors of a release.
image-tar-%: FORCE
	@$(MAKE) --no-print-directory image-tar ARCH='$*' IMG='$(IMAGE_TAG_BASE):v$(VERSION)'

sbom: build ## Write the SBOM of the manager, from its build information: dist/appservice-operator-VERSION.spdx.json and .cdx.json.
	@mkdir -p dist && go run -C tools/sbom . -version '$(VERSION)' -created "$$(git log -1 --format=%ct)" \
	  -out '$(CURDIR)/dist/$(RELEASE)' '$(CURDIR)/bin/manager'

build-installer: ## Write INSTALLER, dist/install.yaml, with the image IMG, for NAMESPACES, with RIGHTS; and admission.yaml, for OLM.
	@$(DEPLOY) installer '$(INSTALLER)'

build-chart: ## Package the Helm chart that installs the operator, with the image IMG: dist/appservice-operator-VERSION.tgz.
	@rm -rf dist/.chart && mkdir -p dist && cp -rL config/chart dist/.chart
	@sed -i -e 's|^  repository: example.com/appservice-operator$$|  repository: $(shell echo '$(IMG)' | sed 's/@.*//; s/:[^:/]*$$//')|' \
	  -e 's|^  tag: ""$$|  tag: "$(filter-out v$(VERSION),$(word 2,$(subst :, ,$(firstword $(subst @, ,$(notdir $(IMG)))))))"|' \
	  -e 's|^  digest: ""$$|  digest: "$(word 2,$(subst @, ,$(IMG)))"|' dist/.chart/values.yaml
	@$(call tool,helm) package dist/.chart --version '$(VERSION)' --app-version '$(VERSION)' --destination dist

chart-push: build-chart ## Push that chart to CHART_REPOSITORY, a registry of OCI artifacts.
	@: $(or $(CHART_REPOSITORY),$(error CHART_REPOSITORY is missing: make chart-push CHART_REPOSITORY=oci://ghcr.io/OWNER/charts))
	$(call tool,helm) push 'dist/$(RELEASE).tgz' '$(CHART_REPOSITORY)' $(CHART_PUSH_FLAGS)

.PHONY: release-notes release-check release-files release-samples package-charts charts-build charts-push
release-notes: ## Write the section of CHANGELOG.md about VERSION, dist/release-notes.md.
	@mkdir -p dist && awk -v version='$(VERSION)' '/^## /{found=($$2 == version)} found' CHANGELOG.md > dist/release-notes.md
	@test -s dist/release-notes.md || { echo 'CHANGELOG.md has no section that begins with "## $(VERSION)"' >&2; exit 1; }

# The files that a release publishes, below dist. The command lines are those of CLI_PLATFORMS.
RELEASE_FILES = install.yaml admission.yaml argocd-cm.yaml grafana-dashboards.yaml tenant-limits.yaml tenant-policy.yaml \
  $(RELEASE).* $(IMAGE_ARCHS:%=$(RELEASE)-linux-%.tar) \
  $$(find cli -name '*.tar.gz' -o -name '*.zip' -o -name appservice.yaml | sort)
release-check: ## Fail if figures of benchmarks or runs of long suites are older than the code, or a released file has a placeholder.
	@go run ./tools/cmd/releasecheck

# For platform teams without a clone: Argo CD's health check, dashboards, and the samples for a tenant.
release-samples:
	@mkdir -p dist && cp config/argocd/argocd-cm.yaml dist && $(call tool,kustomize) build config/grafana > dist/grafana-dashboards.yaml
	@for name in limits policy; do cp config/samples/tenant/$$name.yaml dist/tenant-$$name.yaml; done

release-files: sbom build-installer build-chart image-tars cli release-notes release-samples ## Write all files of a release to dist.
	@cd dist && sha256sum $(RELEASE_FILES) > checksums.txt && sha256sum --quiet --check checksums.txt && cat checksums.txt

package-charts: ## Package the charts that the operator serves, for a ConfigMap: dist/charts/NAME.tgz.
	@rm -rf dist/charts && $(DEPLOY) package dist/charts && ls dist/charts/*

charts-build: ## Build the image CHARTS_IMG of the charts that the operator serves, for an image volume.
	$(CONTAINER_TOOL) build --file charts.Dockerfile --tag '$(CHARTS_IMG)' '$(dir $(abspath $(HELM_CHARTS)))'
charts-push: ## Push that image.
	$(CONTAINER_TOOL) push '$(CHARTS_IMG)'

##@ Bundle and catalog (OLM)

.PHONY: bundle bundle-validate bundle-build bundle-push scorecard scorecard-build scorecard-push catalog catalog-build catalog-push
# operator-sdk reads objects from a pipe only.
bundle: manifests ## Generate bundle/ for the image IMG and validate it.
	@$(OPERATOR_SDK) generate kustomize manifests -q
	@go run ./tools/cmd/kind
	@rm -rf bundle/manifests bundle/metadata bundle/tests
	@mkdir -p bin && go run ./tools/cmd/deploy -image '$(IMG)' bundle > bin/bundle.yaml
	@cat bin/bundle.yaml | $(OPERATOR_SDK) generate bundle $(BUNDLE_GEN_FLAGS)
	@go run ./tools/cmd/bundle -scorecard-image '$(SCORECARD_IMG)'
	@$(SUITE) bundle

bundle-validate: ## Run the validators of operator-sdk, OperatorHub.io and community-operators. A warning is a failure.
	@$(SUITE) bundle
bundle-build: ## Build the image BUNDLE_IMG.
	$(CONTAINER_TOOL) build --file bundle.Dockerfile --tag '$(BUNDLE_IMG)' .
bundle-push: ## Push it.
	$(CONTAINER_TOOL) push '$(BUNDLE_IMG)'

# With SCORECARDFLAGS=-pods and KUBECONFIG, the operator must be in that cluster, and the images must be too unless LOAD brings them.
scorecard: ## Run the scorecard's tests and ours on bundle/. SCORECARDFLAGS=-pods: as pods (Linux, root, or KUBECONFIG).
	@go run ./test/scorecard/run $(SCORECARDFLAGS)
scorecard-build: ## Build the image SCORECARD_IMG of our tests.
	$(CONTAINER_TOOL) build --file test/scorecard/Dockerfile --tag '$(SCORECARD_IMG)' .
scorecard-push: ## Push it.
	$(CONTAINER_TOOL) push '$(SCORECARD_IMG)'

catalog: ## Render catalog/template.yaml into dist/catalog and validate it. The bundles in it are folders: no registry is asked.
	@CGO_ENABLED=0 go run -C tools/pins/opm -tags containers_image_openpgp,json1 ./render -root '$(CURDIR)' $(CATALOG_FLAGS) \
	  catalog/template.yaml dist/catalog/appservice-operator
	@$(OPM) validate dist/catalog && echo 'The catalog is valid.'

catalog-build: CATALOG_FLAGS = -images '$(IMAGE_TAG_BASE)-bundle'
catalog-build: catalog ## Build the image CATALOG_IMG, which names the bundles' images: these must have been pushed.
	$(CONTAINER_TOOL) build --file catalog.Dockerfile --tag '$(CATALOG_IMG)' .
catalog-push: ## Push it.
	$(CONTAINER_TOOL) push '$(CATALOG_IMG)'

##@ Deployment (the current cluster)

.PHONY: install uninstall deploy deploy-charts undeploy
install: ## Install the CRDs.
	@$(DEPLOY) install

uninstall: ## Delete the CRDs, and with them EVERY resource of these kinds and its application.
	@$(DEPLOY) uninstall

# CHARTS=configmap or CHARTS=image: with charts from there. COMPONENTS=certmanager, NAMESPACES, RIGHTS are explained above.
deploy: install ## Install the CRDs, the admission policies and the manager with the image IMG.
	@$(DEPLOY) deploy

deploy-charts: ## Put the charts of HELM_CHARTS into the ConfigMap that a manager of make deploy CHARTS=configmap serves.
	@$(DEPLOY) charts

undeploy: ## Remove the manager, its RBAC and the admission policies. The CRDs, their resources and the applications stay.
	@$(DEPLOY) undeploy
