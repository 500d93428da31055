package mirror_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/mirror"
)

func digests(name string, entries ...string) mirror.Object {
	return mirror.Object{
		Kind: mirror.KindDigest, Name: name,
		Spec: []byte(`{"imageDigestMirrors":[` + strings.Join(entries, ",") + `]}`),
	}
}

func tags(name string, entries ...string) mirror.Object {
	return mirror.Object{
		Kind: mirror.KindTag, Name: name,
		Spec: []byte(`{"imageTagMirrors":[` + strings.Join(entries, ",") + `]}`),
	}
}

func policies(name string, entries ...string) mirror.Object {
	return mirror.Object{
		Kind: mirror.KindPolicy, Name: name,
		Spec: []byte(`{"repositoryDigestMirrors":[` + strings.Join(entries, ",") + `]}`),
	}
}

const never, allow = "NeverContactSource", "AllowContactingSource"

// placesCases are the cases of TestPlaces.
var placesCases = []struct {
	name       string
	objects    []mirror.Object
	repository string
	digest     []string
	tag        []string
}{
	{
		"no mirror sets", nil, "quay.io/team/server", []string{"quay.io/team/server"}, []string{"quay.io/team/server"},
	},
	{
		"digest mirrors apply only to digests",
		[]mirror.Object{digests("a", one("quay.io/team", "", "m.example.com/x", "n.example.com"))},
		"quay.io/team/server",
		[]string{"m.example.com/x/server", "n.example.com/server", "quay.io/team/server"},
		[]string{"quay.io/team/server"},
	},
	{
		"tag mirrors apply only to tags",
		[]mirror.Object{tags("a", one("quay.io/team", allow, "m.example.com/x"))},
		"quay.io/team/server",
		[]string{"quay.io/team/server"},
		[]string{"m.example.com/x/server", "quay.io/team/server"},
	},
	{
		"the older kind of mirror set",
		[]mirror.Object{policies("a", one("quay.io", "", "m.example.com:5000"))},
		"quay.io/team/server",
		[]string{"m.example.com:5000/team/server", "quay.io/team/server"},
		[]string{"quay.io/team/server"},
	},
	{
		"a source that is a whole repository",
		[]mirror.Object{tags("a", one("quay.io/team/server", "", "m.example.com/other"))},
		"quay.io/team/server",
		[]string{"quay.io/team/server"},
		[]string{"m.example.com/other", "quay.io/team/server"},
	},
	{
		"the longest source takes precedence, with only its own mirrors",
		[]mirror.Object{
			digests("a", one("quay.io", "", "short.example.com"), one("quay.io/team", "", "long.example.com")),
			tags("a", one("quay.io", "", "short.example.com")),
		},
		"quay.io/team/server",
		[]string{"long.example.com/server", "quay.io/team/server"},
		[]string{"quay.io/team/server"},
	},
	{
		"the source must not be contacted",
		[]mirror.Object{digests("a", one("quay.io/team", never, "m.example.com"))},
		"quay.io/team/server",
		[]string{"m.example.com/server"},
		nil,
	},
	{
		"the source must not be contacted and has no mirror", []mirror.Object{tags("a", one("quay.io/team", never))}, "quay.io/team/server", nil, nil,
	},
	{
		"one of two sets forbids contact with the source",
		[]mirror.Object{
			tags("a", one("quay.io", allow, "a.example.com")),
			tags("b", one("quay.io", never, "b.example.com")),
		},
		"quay.io/x", nil,
		[]string{"a.example.com/x", "b.example.com/x"},
	},
	{
		"the mirrors of several objects, in the order of their names, each once",
		[]mirror.Object{
			digests("b", one("quay.io", "", "b.example.com", "a.example.com")),
			digests("a", one("quay.io", "", "a.example.com")),
			policies("a", one("quay.io", "", "p.example.com")),
		},
		"quay.io/x",
		[]string{"p.example.com/x", "a.example.com/x", "b.example.com/x", "quay.io/x"},
		[]string{"quay.io/x"},
	},
	{
		"every host of a domain",
		[]mirror.Object{tags("a", one("*.example.com", "", "m.corp/all"))},
		"a.b.example.com/team/server",
		[]string{"a.b.example.com/team/server"},
		[]string{"m.corp/all/team/server", "a.b.example.com/team/server"},
	},
	{
		"a wildcard does not match the domain itself",
		[]mirror.Object{tags("a", one("*.example.com", "", "m.corp"))},
		"example.com/server",
		[]string{"example.com/server"},
		[]string{"example.com/server"},
	},
	{
		"a longer source takes precedence over a domain",
		[]mirror.Object{tags("a", one("*.example.com", "", "m.corp"), one("a.example.com/team", "", "n.corp"))},
		"a.example.com/team/server",
		[]string{"a.example.com/team/server"},
		[]string{"n.corp/server", "a.example.com/team/server"},
	},
	{
		"a source that ends inside a name",
		[]mirror.Object{tags("a", one("quay.io/te", "", "m.corp"))},
		"quay.io/team/server",
		[]string{"quay.io/team/server"},
		[]string{"quay.io/team/server"},
	},
	{
		"Docker Hub without its host",
		[]mirror.Object{tags("a", one("docker.io/ogxai", never, "m.corp/hub"))},
		"index.docker.io/ogxai/server", nil,
		[]string{"m.corp/hub/server"},
	},
	{
		"a port",
		[]mirror.Object{tags("a", one("a.corp:5000", "", "m.corp:5001/a"))},
		"a.corp:5000/server",
		[]string{"a.corp:5000/server"},
		[]string{"m.corp:5001/a/server", "a.corp:5000/server"},
	},
	{
		"the mirror is the source",
		[]mirror.Object{tags("a", one("quay.io", "", "m.corp", "quay.io"))},
		"quay.io/x",
		[]string{"quay.io/x"},
		[]string{"m.corp/x", "quay.io/x"},
	},
	{
		"a registry as the mirror of a whole repository",
		[]mirror.Object{tags("a", one("quay.io/x", "", "m.corp"))},
		"quay.io/x",
		[]string{"quay.io/x"},
		[]string{"quay.io/x"},
	},
	{
		"no more than eight places",
		[]mirror.Object{tags("a", one("quay.io", "", "a.corp", "b.corp", "c.corp", "d.corp", "e.corp", "f.corp", "g.corp",
			"h.corp"))},
		"quay.io/x",
		[]string{"quay.io/x"},
		[]string{"a.corp/x", "b.corp/x", "c.corp/x", "d.corp/x", "e.corp/x", "f.corp/x", "g.corp/x", "quay.io/x"},
	},
}

// TestPlaces checks the places from which an image is read, for the mirror sets in a cluster.
func TestPlaces(t *testing.T) {
	for _, tc := range placesCases {
		t.Run(tc.name, func(t *testing.T) {
			set, ignored := mirror.Read(tc.objects)
			if ignored != 0 {
				t.Errorf("%d entries were ignored", ignored)
			}
			if diff := cmp.Diff(tc.digest, set.Places(tc.repository, true)); diff != "" {
				t.Errorf("by digest (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.tag, set.Places(tc.repository, false)); diff != "" {
				t.Errorf("by tag (-want +got):\n%s", diff)
			}
		})
	}
}

// one returns an entry in a mirror set.
func one(source, policy string, mirrors ...string) string {
	quoted := make([]string, 0, len(mirrors))
	for _, each := range mirrors {
		quoted = append(quoted, fmt.Sprintf("%q", each))
	}
	return fmt.Sprintf(`{"source":%q,"mirrorSourcePolicy":%q,"mirrors":[%s]}`, source, policy, strings.Join(quoted, ","))
}

// TestReadIgnores checks that entries that nodes do not accept are skipped and counted, and that the other entries
// apply.
func TestReadIgnores(t *testing.T) {
	for name, tc := range map[string]struct {
		object  mirror.Object
		ignored int
	}{
		"not JSON":         {mirror.Object{Kind: mirror.KindTag, Name: "a", Spec: []byte(`{`)}, 1},
		"another shape":    {mirror.Object{Kind: mirror.KindTag, Name: "a", Spec: []byte(`{"imageTagMirrors":"a"}`)}, 1},
		"no specification": {mirror.Object{Kind: mirror.KindTag, Name: "a"}, 0},
		"a scheme":         {tags("a", one("https://quay.io", "", "m.corp")), 1},
		"a tag":            {tags("a", one("quay.io/team/server:1", "", "m.corp")), 1},
		"a path with dots": {tags("a", one("quay.io/../team", "", "m.corp")), 1},
		"empty":            {tags("a", one("", "", "m.corp")), 1},
		"a wildcard for more than one domain": {tags("a", one("*", "", "m.corp"), one("quay.*", "", "m.corp"),
			one("*.a.com/team", "", "m.corp")), 3},
		"a mirror with a wildcard": {tags("a", one("quay.io", "", "*.corp", "http://m.corp", "m.corp")), 2},
		"long":                     {tags("a", one("quay.io/"+strings.Repeat("a", 600), "", "m.corp")), 1},
	} {
		t.Run(name, func(t *testing.T) {
			kept := digests("kept", one("ghcr.io", "", "kept.corp"))
			set, ignored := mirror.Read([]mirror.Object{tc.object, kept})
			if ignored != tc.ignored {
				t.Errorf("%d entries are ignored, want %d", ignored, tc.ignored)
			}
			if diff := cmp.Diff([]string{"kept.corp/x", "ghcr.io/x"}, set.Places("ghcr.io/x", true)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadIsBounded checks that the number of sources in a cluster is bounded.
func TestReadIsBounded(t *testing.T) {
	var entries []string
	for i := range 6000 {
		entries = append(entries, one(fmt.Sprintf("r%d.example.com", i), "", "m.corp"))
	}
	set, ignored := mirror.Read([]mirror.Object{tags("a", entries...)})
	if len(set) != 5000 || ignored != 1000 {
		t.Errorf("%d sources, %d ignored", len(set), ignored)
	}
}

// FuzzRead checks that all places are below a mirror or are the repository itself.
func FuzzRead(f *testing.F) {
	f.Add("quay.io", "m.corp/a", "quay.io/team/server")
	f.Add("*.example.com", "m.corp", "a.example.com/x")
	f.Fuzz(func(t *testing.T, source, to, repository string) {
		set, _ := mirror.Read([]mirror.Object{tags("a", one(source, "", to))})
		for _, place := range set.Places(repository, false) {
			if place != repository && (len(set) != 1 || !strings.HasPrefix(place, set[0].Tag[0])) {
				t.Errorf("repository %q with source %q and mirror %q is read at %q", repository, source, to, place)
			}
		}
	})
}
