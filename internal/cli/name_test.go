package cli_test

import (
	"strings"
	"testing"
)

// Without a name, a command uses the only stack in the namespace. Otherwise, it lists the stacks. An argument of
// chat that cannot be a name begins the question.
func TestNameOfTheOnlyStack(t *testing.T) {
	const kind, version = "LlamaStackDistribution", "llamastack.io/v1alpha2"
	const url = "http://my-service.team-a.svc:8321\n"
	for name, tc := range map[string]struct {
		list, want string
		code       int
	}{
		"one":     {listOf(kind, version, liveStack("my")), url, 0},
		"none":    {listOf(kind, version), "there is no stack in namespace \"team-a\"; to list all stacks, run kubectl get llsd -A\n", 1},
		"two":     {listOf(kind, version, liveStack("my"), liveStack("your")), "name one of the 2 stacks in namespace \"team-a\": my, your\n", 1},
		"refused": {"403", "kubectl auth can-i list llamastackdistributions.llamastack.io -n team-a; or name a stack\n", 1},
	} {
		s := stub(t, map[string]string{stacksOfA: tc.list, stacksOfA + "/my": liveStack("my")})
		got := s.run(t, "open", "--print-only")
		if got.code != tc.code || !strings.HasSuffix(got.out+got.err, tc.want) {
			t.Errorf("%s: exit code %d\n%s%s", name, got.code, got.out, got.err)
		}
		if tc.code == 0 {
			continue
		}
		for _, command := range [][]string{{"logs"}, {"models"}, {"events"}, {"chat"}, {"chat", "Hello"}} {
			if again := s.run(t, command...); again != got {
				t.Errorf("%s: %v: exit code %d\n%s%s", name, command, again.code, again.out, again.err)
			}
		}
	}
}
