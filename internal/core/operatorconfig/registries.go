package operatorconfig

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// Registries holds the settings for reading images.
type Registries struct {
	// ReadLabels reports whether the operator reads images at all. The default is true. If the key KeyRegistries has never
	// been valid, the operator reads no images, because the intended value may exclude a registry.
	ReadLabels bool
	// Allow lists the registries that may be read, as host[:port], or prefixes of repositories, as host[:port]/path. Empty
	// means all. The operator applies Rewrite to the repository before it compares the entries with the repository. In all
	// fields, docker.io and index.docker.io refer to the same registry.
	Allow []string
	// Insecure lists the registries, as host[:port], that may be read over plain HTTP or with any certificate.
	Insecure []string
	// Rewrite maps prefixes of repositories, as host[:port][/path], to the prefixes to read instead. The longest matching
	// prefix takes precedence.
	Rewrite map[string]string
	// CheckInterval is the pause before the operator resolves the tag of an image again. Zero means an hour.
	CheckInterval time.Duration
	// CloudIdentity lists the cloud registries, or prefixes of their repositories, that are read with the identity of the
	// operator's own pod if a stack's pull Secrets have no credentials for them. Empty means none. As for Allow, the
	// operator applies Rewrite to the repository before it compares the entries with the repository.
	CloudIdentity []string
}

const registriesHelp = `# How the operator reads the configuration in images.
# The registries, or repository prefixes, that the operator is allowed to read (default: all).
# allow: [registry.example.com, quay.io/team]
# The registries that the operator is allowed to read over plain HTTP, or with any certificate.
# insecure: ["registry.example.com:5000"]
# The location from which the operator reads instead, for each registry or repository prefix.
# rewrite: {docker.io/ogxai: registry.example.com/mirror}
# The cloud registries that the operator reads with the cloud identity of the operator's pod, for every stack.
# cloudIdentity: [123456789012.dkr.ecr.eu-west-1.amazonaws.com/team, team.azurecr.io]
# If readLabels is false, the operator reads no images; set spec.baseConfig in stacks that need a base configuration.
# readLabels: true
# How often the operator checks whether the tag of a running image was moved, 1m to 24h.
# checkInterval: 1h
`

// These are the bounds of CheckInterval.
const (
	leastCheckInterval = time.Minute
	mostCheckInterval  = 24 * time.Hour
)

const (
	hostForm = `([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?`
	pathForm = `(/[a-z0-9]+([._-]+[a-z0-9]+)*)*`
)

var (
	registryForm   = regexp.MustCompile(`^` + hostForm + `$`)
	repositoryForm = regexp.MustCompile(`^` + hostForm + pathForm + `$`)
)

func readRegistries(r *reader, root node, registries *Registries) {
	r.fields(root, map[string]func(node){
		"allow": func(n node) { registries.Allow = r.texts(n, r.repository) },
		"insecure": func(n node) {
			registries.Insecure = r.texts(n, func(n node, text string) {
				r.form(n, text, registryForm, "a registry: write host[:port]")
			})
		},
		"rewrite":    func(n node) { registries.Rewrite = r.rewrite(n) },
		"readLabels": func(n node) { registries.ReadLabels = r.boolean(n) },
		"checkInterval": func(n node) {
			registries.CheckInterval = r.duration(n, leastCheckInterval, mostCheckInterval)
		},
		"cloudIdentity": func(n node) { registries.CloudIdentity = r.texts(n, r.cloudRepository) },
	})
	r.checkCloudIdentity(root.path.Child("cloudIdentity"), registries)
}

// cloudRepository validates an entry of cloudIdentity, because only cloud registries may receive the operator's token.
func (r *reader) cloudRepository(n node, text string) {
	r.repository(n, text)
	host, below, _ := strings.Cut(text, "/")
	cloud, known := imagename.CloudOf(imagename.Registry(host))
	switch {
	case !repositoryForm.MatchString(text):
	case cloud == imagename.Google && below == "":
		r.fail(n.path, text, fmt.Sprintf("%q contains the repositories of all projects; add the project: %s/<project>", text, text))
	case known:
	case strings.EqualFold(host, "public.ecr.aws"):
		r.fail(n.path, text, fmt.Sprintf("%q is public, and the operator reads it without an identity; remove this entry", text))
	default:
		r.fail(n.path, text, fmt.Sprintf("%q is not in a cloud registry: write one of %s, followed by a repository prefix; "+
			"for any other registry, use a pull Secret", text, imagename.CloudForms))
	}
}

// checkCloudIdentity rejects a registry whose certificate is not verified.
func (r *reader) checkCloudIdentity(path *field.Path, registries *Registries) {
	for i, text := range registries.CloudIdentity {
		host, _, _ := strings.Cut(text, "/")
		if slices.ContainsFunc(registries.Insecure, func(insecure string) bool { return strings.EqualFold(insecure, host) }) {
			r.fail(path.Index(i), text, fmt.Sprintf("%q is also listed in registries.insecure, and the operator never sends a token to a registry whose certificate is not verified; "+
				"remove it from one of the two lists", host))
		}
	}
}

func (r *reader) rewrite(n node) map[string]string {
	rewrite := map[string]string{}
	for _, e := range r.entries(n, (*field.Path).Key) {
		r.repository(e.value, e.key)
		if to, ok := r.text(e.value); ok {
			r.repository(e.value, to)
			rewrite[e.key] = to
		}
	}
	return rewrite
}

func (r *reader) repository(n node, text string) {
	r.form(n, text, repositoryForm, "a registry or a repository prefix: write host[:port][/path], with the path in lower case")
}

// form validates the format of a string.
func (r *reader) form(n node, text string, form *regexp.Regexp, want string) {
	if !form.MatchString(text) {
		r.fail(n.path, text, fmt.Sprintf("%q is not %s", text, want))
	}
}

// texts reads a list of strings, and checks each of them. It rejects duplicates.
func (r *reader) texts(n node, check func(node, string)) []string {
	var found []string
	for _, item := range r.items(n) {
		text, ok := r.text(item)
		if !ok {
			continue
		}
		check(item, text)
		if slices.Contains(found, text) {
			r.fail(item.path, text, fmt.Sprintf("%q is listed twice; remove one of the two entries", text))
		}
		found = append(found, text)
	}
	return found
}
