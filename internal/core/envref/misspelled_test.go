package envref_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
)

func TestFindMisspelled(t *testing.T) {
	for text, want := range map[string][]envref.Misspelled{
		"${env.X:~/.llama/x}/db":       {{"${env.X:…}", "${env.X:=…}"}},
		"${env.X:}":                    {{"${env.X:}", "${env.X:=}"}},
		"${env.X:-d}":                  {{"${env.X:-…}", "${env.X:=…}"}},
		"${env.X-d}":                   {{"${env.X-d}", "${env.X_D}"}},
		"${env.my_dir:=/x}":            {{"${env.my_dir:=…}", "${env.MY_DIR:=…}"}},
		"${env.my_id:+x}":              {{"${env.my_id:+…}", "${env.MY_ID:+…}"}},
		"${env.a.b}":                   {{"${env.a.b}", "${env.A_B}"}},
		"${ENV.X}":                     {{"${ENV.X}", "${env.X}"}},
		"${VLLM_URL}":                  {{"${VLLM_URL}", "${env.VLLM_URL}"}},
		"${VLLM_URL:-http://a/v1}":     {{"${VLLM_URL:-…}", "${env.VLLM_URL:=…}"}},
		"$VLLM_URL":                    {{"$VLLM_URL", "${env.VLLM_URL}"}},
		"http://$HOST:8000/${env.A}":   {{"$HOST", "${env.HOST}"}},
		"${env.A}${env.b}${env.C:=$D}": {{"${env.b}", "${env.B}"}},
		"${env.A} ${env.A:=b}":         nil,
		"pa$$word":                     nil,
		"^a+$":                         nil,
		"costs $5":                     nil,
		"a$BCDE":                       nil,
		"${env.A:=b":                   nil,
	} {
		if diff := cmp.Diff(want, envref.FindMisspelled(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
