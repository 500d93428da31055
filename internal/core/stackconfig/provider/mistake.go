package provider

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

var (
	doubledForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):/*([A-Za-z][A-Za-z0-9+.-]*):/`)
	// placeholderForm matches the parts of examples that a user replaces: <host>, $(HOST), {{host}}, your-host.
	placeholderForm = regexp.MustCompile(`[<>]|\$\(|\{\{|(?i:\b(your[-_]|(change|replace)[-_]?me\b))`)
	// operationForm matches the path of an operation of an inference server. The server adds it to the endpoint.
	operationForm = regexp.MustCompile(`/((chat/)?completions|embeddings|models|responses|rerank|moderations|messages|` +
		`audio/(speech|transcriptions|translations)|images/(generations|edits)|api/(chat|generate|tags|embed|embeddings))/?$`)
)

// azure is the domain of a service whose endpoints end with /models.
const azure = ".azure.com"

// EndpointMistakes returns what is probably wrong with an endpoint that is a URL, a host, or host:port. The parameter
// operations reports whether the server adds the path of an operation. The parameter alone reports whether the
// server is the only program in its pod, and own is the server's port.
func EndpointMistakes(text string, operations, alone bool, own string) (found []string) {
	if text == "" || strings.Contains(text, "${") || strings.Contains(text, "@") {
		return nil
	}
	warn := func(format string, args ...any) {
		found = append(found, fmt.Sprintf("%q %s", text, fmt.Sprintf(format, args...)))
	}
	if trimmed := strings.TrimSpace(text); trimmed != text {
		if !strings.HasPrefix(trimmed, "http") { // the URL has an error
			warn("begins or ends with white space; write %q", trimmed)
		}
		return found
	}
	if doubled := doubledForm.FindStringSubmatch(text); doubled != nil {
		rest := strings.TrimLeft(text[len(doubled[0]):], "/")
		warn("contains two schemes; write %q", doubled[2]+"://"+rest)
		return found
	}
	if placeholder := placeholderForm.FindString(text); placeholder != "" {
		warn("contains a placeholder (%q); write the name of the host", placeholder)
		return found
	}
	u := parsed(text)
	if u == nil {
		return nil
	}
	if host := u.Hostname(); alone && isLocal(host) && u.Port() != own {
		warn("refers to the pod of the server itself (%q), in which nothing else runs; write the name of a Service, such as vllm or vllm.my-namespace.svc", host)
	}
	if operation := operationForm.FindString(u.Path); operations && operation != "" && !isAzureModels(u, operation) {
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, operation), ""
		warn("contains the path of an operation (%s), which the server adds itself; write %q", strings.TrimSuffix(operation, "/"), u)
	}
	return found
}

func isAzureModels(u *url.URL, operation string) bool {
	return strings.HasSuffix(u.Hostname(), azure) && strings.HasPrefix(operation, "/models")
}

// parsed returns an endpoint as a URL, or nil if it is not valid. The stack then has an error.
func parsed(text string) *url.URL {
	if !strings.Contains(text, "://") {
		text = "//" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil
	}
	return u
}

func isLocal(host string) bool {
	host = strings.ToLower(host)
	address, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		err == nil && (address.IsLoopback() || address.IsUnspecified())
}
