// Package suites runs tests that need more than "go test ./...": the race detector, a control plane, programs that
// are built, or many hours. "make test-NAME" runs one of them; "make test" and "make check" are suites of suites.
package suites

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
)

// Suite is a run of tests.
type Suite struct {
	Name  string
	About string
	// Parts are the suites that it consists of. Each of them runs, whether or not others fail. Steps come after them.
	Parts []string
	steps []step
}

// step is a part of a suite; if one fails, those after it are left out.
type step interface{ run(r *runner) error }

// faultPlans are the tests with plans: of one request, of what nothing else can run beside, and of the CRD. Of those that run
// at a time nearly all wait: for retries of the operator, and for other plans.
const faultPlans = onCluster + "-parallel=96 -run=^(TestFaults|TestOneByOne|TestTheKindGoes)$ "

// atOnce is in the names of the integration tests in which most happens at once.
const atOnce = "AtOnce|AllTheTime|Restart|Managers|HoldsUp|AChart|CRDIsMissing|Certificate"

// All returns all suites. Some have parameters, which are read from the environment: make passes its variables on.
func All() []Suite {
	figures := func(file string) string { return filepath.Join("bin/security", file) }
	return []Suite{
		{Name: "test", About: "what a change should see: no race detector, no programs that take long to build",
			Parts: []string{"unit", "contract", "cli", "scenarios", "integration-plain"}},
		{Name: "check", About: "what make test leaves out, and a sample of the rest with the race detector",
			Parts: []string{"chart", "charts-sample", "alerts", "security", "controlplane", "integration-sample", "faults-sample", "walk"}},

		{Name: "unit", About: "unit tests, those of tools that are modules of their own included", steps: []step{
			goTest{args: "-timeout=20m ./..."},
			goTest{module: "tools/images", args: "./..."},
			goTest{module: "tools/crdgen", args: "./..."},
			goTest{module: "tools/sbom", args: "./..."},
			goTest{module: "config/samples/shop", args: "./..."},
		}},
		// -short leaves out tests that render hundreds of times: minutes each with the race detector, which finds nothing
		// there; nor in those of manifests and documents, in test.
		{Name: "unit-race", About: "unit tests of the programs with the race detector", steps: []step{
			goTest{args: "-short -timeout=20m ./cmd/... ./internal/... ./tools/...", race: true},
		}},
		{Name: "chart-unit", About: "the charts' own tests, helm-charts/*/tests", steps: []step{function(chartTests)}},
		{Name: "chart",
			About: "the charts' own tests, helm-charts/*/tests, and what chart maintainers rely on: CHARTFLAGS='-test.run=NAME'",
			steps: []step{function(chartTests), controlPlane{},
				goTest{args: onCluster + "-timeout=40m -parallel=4 ./test/chart", flags: "CHARTFLAGS"}}},
		{Name: "contract",
			About: "each field of the API does something: CONTRACTFLAGS=-update rewrites docs/reference/fields.md",
			steps: []step{goTest{args: onCluster + "./test/contract", flags: "CONTRACTFLAGS"}}},
		{Name: "alerts",
			About: "the cases of the alerts, with promtool; what Prometheus sees of alerts and dashboards",
			steps: []step{controlPlane{}, programs{"promtool", "prometheus"},
				goTest{args: onCluster + "./test/monitoring ./test/prometheus"}}},
		{Name: "cli",
			About: "kubectl appservice: each example of its help, the commands of the pages: CLIFLAGS='-test.run=TestExamples/why'",
			steps: []step{controlPlane{}, empty("bin/cli/"),
				goTest{args: onCluster + "-timeout=20m ./test/cli", flags: "CLIFLAGS",
					env: []string{"CLI_FIGURES=" + inRoot + "/bin/cli"}},
				goTest{args: "-count=1 -run=^TestRules$ ./internal/plugin/lint",
					env: []string{"CLI_FIGURES=" + inRoot + "/bin/cli"}},
				command{args: words("go run ./tools/cmd/figures cli")}}},

		{Name: "dashboard",
			About: "the page of kubectl appservice dashboard in a real Chromium, which Debian has; SCREENSHOTS=FOLDER writes its pictures",
			steps: []step{controlPlane{}, packaged{"chromium": "chromium", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf": "fonts-dejavu-core"},
				goTest{module: "test/dashboard", args: "-tags=cluster -vet=off -count=1 -timeout=20m .", verbose: true}}},

		{Name: "corpus",
			About: "public manifests, imported and rendered under the built-in policies: CORPUS=FOLDER with files of test/corpus/SOURCES.yaml",
			steps: []step{goTest{args: "-tags=corpus -count=1 -timeout=30m ./test/corpus", verbose: true}}},
		{Name: "charts",
			About: "what the operator renders of charts that were written for Helm, as Helm does: CHARTS=FOLDER, CHARTSFLAGS='-chart=REGEXP'",
			steps: []step{goTest{args: "-count=1 -timeout=2h ./test/charts" + folderOf("CHARTS"), verbose: true, flags: "CHARTSFLAGS"}}},
		{Name: "charts-served",
			About: "the same charts, served: objects that are deleted or edited come back, and all go with the resource: CHARTS=FOLDER",
			steps: []step{controlPlane{},
				goTest{args: onCluster + "-timeout=2h -run=TestPublicChartsAreServed ./test/charts" + folderOf("CHARTS"), verbose: true,
					flags: "CHARTSFLAGS"}}},
		{Name: "charts-sample", About: "the same with a few values of each chart: PUBLIC_CHARTS=FOLDER",
			steps: []step{goTest{args: "-count=1 -timeout=30m ./test/charts -booleans=5" + folderOf("PUBLIC_CHARTS"), verbose: true, flags: "CHARTSFLAGS"}}},
		{Name: "helm4", About: "Helm 4 renders the charts, and reads release records, as Helm 3 does",
			steps: []step{goTest{module: "test/helm4", args: "-vet=off -count=1 .", verbose: true}}},
		{Name: "injection",
			About: "special characters of YAML, templates and shells in each text of the API change only that text",
			steps: []step{empty(figures("input")),
				goTest{args: onCluster + "./test/injection", env: []string{"SECURITY_FIGURES=" + inRoot + "/" + figures("input")}}}},
		{Name: "vectors",
			About: "tenants who try to gain more than their AppServices: VECTORFLAGS='-test.run=TestVectors/.*/NAME'",
			steps: []step{controlPlane{}, empty(figures("vectors")),
				goTest{args: onCluster + "-timeout=20m -parallel=8 ./test/security", flags: "VECTORFLAGS",
					env: []string{"SECURITY_FIGURES=" + inRoot + "/" + figures("vectors")}}}},
		{Name: "security", About: "tenants gain no rights, and no text is interpreted; last a line SECURITY",
			Parts: []string{"injection", "vectors"},
			steps: []step{command{args: words("go run ./tools/cmd/figures security")}}},
		{Name: "integration",
			About: "the operator, feature by feature, with the race detector; CLUSTER=current on your cluster",
			steps: []step{controlPlane{}, integration(true, "")}},
		{Name: "integration-plain", About: "the same without the race detector", steps: []step{controlPlane{}, integration(false, "")}},
		{Name: "integration-sample", About: "those of them in which most happens at once, with the race detector",
			steps: []step{controlPlane{},
				integration(true, atOnce)}},

		{Name: "upgrade",
			About: "what runs with the version before, in the middle of all that it does, stays: TESTFLAGS='-run=TestAnUpgrade/NAME'",
			steps: []step{controlPlane{}, integration(false, "^TestAnUpgrade")}},

		{Name: "scenarios", About: "what happens to AppServices and AppJobs; in a few, the operator dies at each write; a few pairs: SCENARIOFLAGS='-test.run=TestDrift/.*/NAME'",
			steps: []step{controlPlane{}, goTest{flags: "SCENARIOFLAGS",
				args: onCluster + "-timeout=30m -parallel=32 -run=^(TestScenarios|TestDrift|TestDeaths|TestPairs)$ ./test/scenario -every=40"}}},
		{Name: "pairs", About: "two features of which the second begins before the first has ended: PLAN=pairs/task-return, PART=2/7",
			steps: []step{controlPlane{}, goTest{args: onCluster + "-parallel=32 -run=^TestPairs$ -timeout=90m ./test/scenario -plan=" + os.Getenv("PLAN"),
				flags: "PAIRFLAGS"}}},
		{Name: "faults", About: "faults at each request of the operator, and others: PLAN=NAME,…, PART=1/4, FAULTFLAGS='-test.v -log'",
			steps: []step{controlPlane{}, goTest{args: faultPlans + "-timeout=90m ./test/scenario -plan=" + os.Getenv("PLAN"), flags: "FAULTFLAGS"}}},
		{Name: "faults-sample", About: "every 40th of these plans, with the race detector", steps: []step{controlPlane{},
			goTest{args: faultPlans + "-timeout=60m ./test/scenario -every=40", race: true, flags: "FAULTFLAGS"}}},
		{Name: "faults-stock",
			About: "crashes of helm-operator-plugins with the same chart, and what goes wrong",
			steps: []step{controlPlane{},
				goTest{args: onCluster + "-timeout=60m -parallel=96 -run=^TestStock$ ./test/scenario -stock", verbose: true}}},
		{Name: "walk", About: "a few random walks, always the same ones", steps: walks("-seed=5 -walks=5 -steps=5")},
		{Name: "walks",
			About: "random walks with other writers, each compared with a fresh install: WALKS='-seed=7 -walks=9', PART=1/3",
			steps: walks(parameter("WALKS", "-seed=1 -walks=100 -steps=12"))},
		{Name: "model",
			About: "all sequences of DEPTH events on a small resource: 3 takes minutes, 4 takes hours: PART=1/8",
			steps: []step{
				goTest{args: "-count=1 -timeout=12h ./test/model -depth=" + parameter("DEPTH", "3"), verbose: true}}},
		{Name: "size",
			About: "N=1000 of the largest AppServices of each shape, or of SHAPE=references: takes an hour, PART=1/3",
			steps: []step{
				controlPlane{}, goTest{verbose: true, env: []string{"SIZE_FLEET=" + parameter("N", "1000")},
					args: onCluster + "-timeout=3h -run=^TestAThousandOfTheLargestFit$/" + os.Getenv("SHAPE") + "|^TestManyClaimsFit$ ./test/integration"}}},
		{Name: "versions",
			About: "the integration tests on other versions of Kubernetes, one after the other: VERSIONS='1.34 1.35 1.37'",
			steps: []step{function(otherVersions)}},
		{Name: "olm", About: "installation, upgrade and removal by OLM", steps: []step{controlPlane{},
			goTest{args: onCluster + "-timeout=20m ./test/olm", verbose: true}}},
		{Name: "refusals",
			About: "what the operator refuses with a condition, and that each refusal heals",
			steps: []step{controlPlane{},
				goTest{args: onCluster + "-parallel=4 -run=^TestRefusals$ ./test/integration", race: true, verbose: true}}},
		{Name: "ready", About: "Ready for each kind of object; kstatus, Argo CD and kubectl wait agree",
			steps: []step{goTest{args: onCluster + "./test/ready", verbose: true}}},
		{Name: "diagnosis", About: "the status explains why pods do not run: recorded failures, then simulated ones",
			steps: []step{controlPlane{},
				goTest{args: "-count=1 -run=^TestRecorded ./test/diagnosis ./internal/engine/release", verbose: true},
				goTest{args: onCluster + "-parallel=8 -run=" +
					"^(TestDiagnosis|TestACrashLoopDoesNotFlap|TestARestartOfTheOperatorChangesNoDiagnosis|TestWhatIsWellIsNotLookedAt)$" +
					" ./test/integration", race: true, verbose: true}}},
		{Name: "controlplane",
			About: "the life of a control plane: it comes up, each of its programs that ends is started again, it leaves nothing",
			steps: []step{controlPlane{},
				goTest{args: "-count=1 -run=^TestLife$ ./tools/controlplane", env: []string{"CONTROLPLANE_TEST=1"}}}},
		{Name: "node",
			About: "the life of a real node: it comes up, restarts, ends and leaves nothing (Linux, root)",
			steps: []step{
				goTest{args: "-count=1 -run=^TestLife$ ./tools/node", env: []string{"NODE_TEST=1"}}}},
		{Name: "images",
			About: "each Dockerfile with buildah, compared with the images of tools/images (Linux): IMAGESFLAGS='-run=/charts'",
			steps: []step{goTest{module: "tools/images", args: "-tags=cluster -count=1 -timeout=3h -run=^TestImages$ ./dockerfiles", verbose: true,
				flags: "IMAGESFLAGS"}}},
		{Name: "reproducible",
			About: "two builds of the manager and its image, from two folders, are the same",
			steps: []step{
				goTest{module: "tools/images", args: "-count=1 -run=^(TestManager|TestTheSameSourcesElsewhere)$ .", verbose: true}}},
		{Name: "mutants",
			About: "each behavior that is lost fails its test, by test/mutants: MUTANTS=mends, PART=1/3, NAME='part of a name'",
			steps: []step{function(mutants)}},
		{Name: "coverage",
			About: "unit tests cover no less of a package than test/mutants/coverage.yaml says: COVERAGE=update writes it",
			steps: []step{function(coverage)}},
		{Name: "fuzz", About: "each fuzzer for FUZZTIME, FUZZ=Render those of that name; findings stay in testdata/fuzz",
			steps: []step{function(fuzz)}},
		{Name: "vuln",
			About: "known vulnerabilities of the modules and the standard library in the programs",
			steps: []step{function(vulnerabilities)}},
		{Name: "bundle",
			About: "what OLM, OperatorHub.io and community-operators ask of bundle/",
			steps: []step{function(validators)}},
	}
}

// Find returns the suite of a name.
func Find(name string) (Suite, bool) {
	all := All()
	i := slices.IndexFunc(all, func(s Suite) bool { return s.Name == name })
	if i < 0 {
		return Suite{}, false
	}
	return all[i], true
}

func walks(flags string) []step {
	return []step{controlPlane{}, goTest{args: onCluster + "-timeout=2h -parallel=5 ./test/walk " + flags, race: true, verbose: true}}
}

// parameter is the value of a variable, or what is meant if it is empty.
func parameter(name, fallback string) string { return cmp.Or(os.Getenv(name), fallback) }

// folderOf returns the flag for a folder that a variable of the environment names; empty if it names none.
func folderOf(variable string) string {
	if folder := os.Getenv(variable); folder != "" {
		return " -folder=" + folder
	}
	return ""
}
