package plugin

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd/api"
)

// completionPatience is how long a completion waits for the cluster.
const completionPatience = 3 * time.Second

// completeFlags registers completions for the values of the persistent flags.
func (s *cli) completeFlags(root *cobra.Command) {
	for flag, complete := range map[string]cobra.CompletionFunc{
		"namespace": s.completeNamespaces,
		"context":   s.completeKubeconfig(func(c api.Config) iter.Seq[string] { return maps.Keys(c.Contexts) }),
		"cluster":   s.completeKubeconfig(func(c api.Config) iter.Seq[string] { return maps.Keys(c.Clusters) }),
		"user":      s.completeKubeconfig(func(c api.Config) iter.Seq[string] { return maps.Keys(c.AuthInfos) }),
		"color":     cobra.FixedCompletions([]string{colorAuto, colorAlways, colorNever}, cobra.ShellCompDirectiveNoFileComp),
	} {
		_ = root.RegisterFlagCompletionFunc(flag, complete) // the flags exist
	}
}

// completeNames completes the name of one resource.
func (s *cli) completeNames(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.completeMoreNames(cmd, args, begun)
}

// completeMoreNames completes names of resources that are not among the arguments yet; of another kind if KIND/ was
// typed.
func (s *cli) completeMoreNames(cmd *cobra.Command, args []string,
	begun string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
	defer cancel()
	prefix, kind := "", appServices
	if word, _, found := strings.Cut(begun, "/"); found {
		of, err := s.kind(word)
		if err != nil {
			return nothing(err)
		}
		prefix, kind = word+"/", of
	}
	reader, err := s.client()
	if err != nil {
		return nothing(err)
	}
	list, err := s.list(ctx, reader, kind, false)
	if err != nil {
		return nothing(err)
	}
	var names []string
	for _, one := range list {
		if name := prefix + one.GetName(); !slices.Contains(args, name) {
			names = append(names, name)
		}
	}
	return beginning(begun, names)
}

// completeKinds completes the kinds that the operator serves: those of the group of AppServices.
func (s *cli) completeKinds(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	discovery, err := s.kube.ToDiscoveryClient()
	if err != nil {
		return nothing(err)
	}
	served, err := discovery.ServerResourcesForGroupVersion(appServices.GroupVersion().String())
	if err != nil {
		return nothing(err)
	}
	var words []string
	for _, resource := range served.APIResources {
		if !strings.Contains(resource.Name, "/") {
			words = append(words, strings.ToLower(resource.Kind))
		}
	}
	return beginning(begun, words)
}

func (s *cli) completeNamespaces(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
	defer cancel()
	reader, err := s.client()
	if err != nil {
		return nothing(err)
	}
	list := &corev1.NamespaceList{}
	if err := reader.List(ctx, list); err != nil {
		return nothing(err)
	}
	var names []string
	for _, namespace := range list.Items {
		names = append(names, namespace.Name)
	}
	return beginning(begun, names)
}

// completeKubeconfig completes the names of entries of a kubeconfig.
func (s *cli) completeKubeconfig(of func(api.Config) iter.Seq[string]) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		config, err := s.kube.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nothing(err)
		}
		return beginning(begun, slices.Sorted(of(config)))
	}
}

// beginning completes a word by those that begin with it.
func beginning(begun string, words []string) ([]string, cobra.ShellCompDirective) {
	words = slices.DeleteFunc(words, func(word string) bool { return !strings.HasPrefix(word, begun) })
	return words, cobra.ShellCompDirectiveNoFileComp
}

// nothing returns no completion after an error, which cobra writes to BASH_COMP_DEBUG_FILE if that is set.
func nothing(err error) ([]string, cobra.ShellCompDirective) {
	cobra.CompDebugln(err.Error(), false)
	return nil, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveError
}
