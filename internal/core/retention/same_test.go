package retention

import "testing"

func TestSameRegistry(t *testing.T) {
	for _, tc := range []struct {
		was, is string
		want    bool
	}{
		{"registry", "registry", true},
		{"registry", "registry/team-a/demo", true},
		{"registry-0123abcd", "registry/team-a/demo", false},
		{"registry/team-a/demo", "registry/team-a/demo", true},
		{"registry/team-a/demo", "registry/team-b/demo", false},
		{"registry/team-a/demo", "registry/team-a/other", false},
		{"mine", "registry/team-a/demo", false},
	} {
		if got := sameRegistry(tc.was, tc.is); got != tc.want {
			t.Errorf("%q and %q: same %t, want %t", tc.was, tc.is, got, tc.want)
		}
	}
}
