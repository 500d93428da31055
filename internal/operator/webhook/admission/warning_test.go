package admission

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

// TestHandleWarnings checks warnings that depend on more than the spec and the embedded base. The command line prints
// the same.
func TestHandleWarnings(t *testing.T) {
	const (
		plain   = "exposed over plain HTTP"
		exposed = `, networking: {expose: {hostname: a.example.com}}`
		volume  = `, workload: {storage: {}}`
	)
	older := func(spec string) handleCase { return handleCase{request: create(object(t, spec, marked))} }
	for name, tc := range map[string]struct {
		handleCase
		want string
	}{
		"an exposed image's own configuration":            {older(`{distribution: {name: starter}` + exposed + `}`), plain},
		"an exposed configuration in an unknown image":    {handleCase{request: create(object(t, `{distribution: {image: "example.com/mine:1"}`+exposed+`}`, nil))}, plain},
		"an exposed configuration of the user":            {handleCase{request: create(object(t, `{distribution: {name: starter}, overrideConfig: {configMapName: own}`+exposed+`}`, nil))}, plain},
		"a mistake in a complete configuration":           {handleCase{request: create(object(t, `{distribution: {name: starter}, overrideConfig: {configMapName: own}}`, nil))}, "spec.overrideConfig: the configuration has problems (2); "},
		"a base configuration that no server reads":       {handleCase{request: create(object(t, `{distribution: {name: starter}, baseConfig: {configMapName: own, key: broken}, disabled: [eval]}`, nil))}, "spec.baseConfig: the configuration has problems (1); "},
		"a type in a base that no release has":            {handleCase{request: create(object(t, `{distribution: {name: starter}, baseConfig: {configMapName: own, key: type}, disabled: [eval]}`, nil))}, "spec.baseConfig: the configuration has problems (1); "},
		"a configuration that no server reads, for now":   {handleCase{request: create(object(t, `{distribution: {name: starter}, overrideConfig: {configMapName: own, key: broken}}`, nil))}, "spec.overrideConfig: the configuration has problems (1); "},
		"a configuration that does not exist yet":         {handleCase{request: create(object(t, `{distribution: {name: starter}, overrideConfig: {configMapName: none}}`, nil))}, ""},
		"a change that leaves data behind":                {handleCase{request: update(object(t, `{distribution: {name: starter, version: "0.7"}`+volume+`}`, nil), object(t, `{distribution: {name: starter, version: "0.7"}, providers: {files: {provider: localfs, settings: {storage_dir: /.llama/other}}}`+volume+`}`, nil))}, "does not find the earlier data of files"},
		"a change without an effect on the place of data": {handleCase{request: update(object(t, `{distribution: {name: starter, version: "0.7"}`+volume+`}`, nil), object(t, `{distribution: {name: starter, version: "0.7"}, workload: {storage: {}, resources: {limits: {memory: 4Gi}}}}`, nil))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			validator := newValidator(t, map[string]string{operatorconfig.KeyIngress: "{className: nginx}"})
			got := validator.Handle(t.Context(), tc.request)
			told := strings.Join(got.Warnings, "\n")
			if strings.Contains(told, "sk-hidden") || strings.Contains(told, "max_tokns") || strings.Contains(told, "YAML") {
				t.Errorf("the warnings contain text of a ConfigMap: %q", told)
			}
			if !got.Allowed || !strings.Contains(told, tc.want) || tc.want == "" && told != "" {
				t.Errorf("allowed %v %v with the warnings %q, want %q", got.Allowed, got.Result, told, tc.want)
			}
		})
	}
}
