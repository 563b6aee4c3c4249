// Package plugin implements the commands of kubectl-appservice: their flags, input, output and exit codes. The work is
// done by packages that do not depend on the command line, most of them shared with the manager.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/appservice-operator/internal/version"
)

// Exit codes, like those of kubectl diff.
const (
	exitOK    = 0
	exitFound = 1 // differences or findings
	exitBroke = 2
)

// commands are the constructors of all commands, in the order of the help.
var commands = []func(*cli) *cobra.Command{
	renderCommand,
	valuesCommand,
	diffCommand,
	devCommand,
	statusCommand,
	waitCommand,
	whyCommand,
	treeCommand,
	logsCommand,
	historyCommand,
	dashboardCommand,
	undoCommand,
	runCommand,
	pauseCommand,
	resumeCommand,
	restartCommand,
	importCommand,
	convertIngressCommand,
	adoptCommand,
	lintCommand,
	validateCommand,
}

// groups are the headings of the help, each with its commands.
var groups = []struct {
	title string
	names []string
}{
	{"Preview", []string{"render", "values", "diff", "dev"}},
	{"Explain", []string{"status", "wait", "why", "tree", "logs", "history", "dashboard"}},
	{"Change", []string{"run", "pause", "resume", "restart", "undo"}},
	{"Migrate", []string{"import", "convert-ingress", "adopt"}},
	{"Check", []string{"lint", "validate"}},
}

// group puts the commands of a root command below their headings.
func group(root *cobra.Command) {
	for _, each := range groups {
		root.AddGroup(&cobra.Group{ID: each.title, Title: each.title + ":"})
		for _, command := range root.Commands() {
			if slices.Contains(each.names, command.Name()) {
				command.GroupID = each.title
			}
		}
	}
}

// Run runs a command line, and returns the exit code. Data goes to stdout, everything else to stderr.
func Run(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	log.SetLogger(logr.Discard()) // else controller-runtime complains, with a stack trace, after 30 s
	streams.Out, streams.ErrOut = visibly(streams.Out), visibly(streams.ErrOut)
	root := New(streams)
	root.SetArgs(args)
	return exitCode(ctx, root.ExecuteContext(ctx), streams)
}

// exitCode returns the exit code for the error of a command, and prints the error unless it is errFound.
func exitCode(ctx context.Context, err error, streams genericiooptions.IOStreams) int {
	var ran exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &ran):
		return int(ran)
	case errors.Is(err, errFound):
		return exitFound
	case ctx.Err() != nil:
		_, _ = fmt.Fprintln(streams.ErrOut, "error: interrupted")
	default:
		_, _ = fmt.Fprintln(streams.ErrOut, wrapped("error: "+err.Error(), width(streams.ErrOut), "  "))
	}
	return exitBroke
}

// knownCommand returns an error that names the command that was meant, if there is one like it.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q", args[0])
	if root.SuggestionsMinimumDistance = min(2, len(args[0])/2); len(root.SuggestionsFor(args[0])) > 0 {
		err = fmt.Errorf("%w: did you mean %s?", err, strings.Join(root.SuggestionsFor(args[0]), " or "))
	}
	return err
}

// New returns the root command.
func New(streams genericiooptions.IOStreams) *cobra.Command {
	streams.Out, streams.ErrOut = visibly(streams.Out), visibly(streams.ErrOut)
	s := &cli{IOStreams: streams, kube: genericclioptions.NewConfigFlags(true)}
	root := &cobra.Command{
		Use:   "kubectl-appservice",
		Short: "Preview AppServices, and explain their state",
		Long: "kubectl appservice shows the objects of AppServices before they are applied, and explains the state of AppServices in the cluster. It\n" +
			"renders with the operator's own code.\n\n" +
			"Commands exit with 0 on success, and with 2 on errors. Those that compare, check or wait (diff, validate, lint, why,\n" +
			"adopt, wait, logs, import --strict) exit with 1 if there are differences or findings, or nothing is printed. Run exits with the code of\n" +
			"its command.",
		Version:       version.OfModule(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl appservice"},
		Args:          knownCommand,
		RunE:          func(root *cobra.Command, _ []string) error { return root.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return s.checkColor()
		},
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	s.kube.AddFlags(root.PersistentFlags())
	root.PersistentFlags().StringVar(&s.color, "color", colorAuto,
		"when to use colors: auto (on a terminal, unless NO_COLOR is set), always or never")
	s.completeFlags(root)
	root.SetGlobalNormalizationFunc(oldFlags)
	for _, command := range commands {
		root.AddCommand(command(s))
	}
	group(root)
	return root
}
