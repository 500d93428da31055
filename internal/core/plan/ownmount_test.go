package plan_test

import (
	"slices"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

// A user's mount or the stack's volume can replace a configuration that is generated only for the workers. In this
// case, RUN_CONFIG_PATH is not set, no launcher runs, and a warning names the field that has no effect. In any other
// case, package validate warns about the mount.
func TestOwnMountInPlaceOfTheConfiguration(t *testing.T) {
	mount := func(more, path string) string {
		return "workload: {" + more + "overrides: {volumes: [{name: mine, configMap: {name: mine}}], volumeMounts: [{name: mine, mountPath: " + path + "}]}}\n"
	}
	for name, tc := range map[string]struct {
		spec   string
		hidden bool
		warns  string
	}{
		"workers": {mount("workers: 4, ", "/etc/llama-stack"), true, "spec.workload.workers"},
		"workers, the directory with a trailing slash": {mount("workers: 4, ", "/etc/llama-stack/"), true, "spec.workload.workers"},
		"workers, one file": {
			mount("workers: 4, ", "/etc/llama-stack/config.yaml"), true, "spec.workload.workers",
		},
		"workers, another directory":  {mount("workers: 4, ", "/etc/llama-stack-mine"), false, ""},
		"workers, the stack's volume": {"workload: {workers: 4, storage: {mountPath: /etc/llama-stack}}", true, "spec.workload.workers"},
		"providers":                   {"disabled: [eval]\n" + mount("", "/etc/llama-stack"), false, ""},
		"providers, a subdirectory": {
			"disabled: [eval]\n" + mount("workers: 4, ", "/etc/llama-stack/more"), false, "",
		},
	} {
		in := marked(t, "distribution: {name: starter}\n"+tc.spec, nil)
		built := build(t, in)
		server := container(t, built)
		led := slices.Contains(environment(server), names.EnvRunConfig+"="+names.ConfigPath)
		if led == tc.hidden || !slices.Contains(environment(server), names.EnvConfig+"="+names.ConfigPath) {
			t.Errorf("%s: environment %v", name, environment(server))
		}
		if wrapped := len(server.Command) > 0; wrapped == tc.hidden {
			t.Errorf("%s: command %q", name, server.Command)
		}
		warned := slices.ContainsFunc(built.Warnings, func(f stackconfig.Finding) bool { return f.Path == tc.warns })
		if warned != (tc.warns != "") {
			t.Errorf("%s: warnings %v", name, built.Warnings)
		}
	}
}
