package installation

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	restart = "restart the operator to renew and register its certificate; if another program manages the certificate, " +
		"see docs/reference/webhooks.md"
	// soon is the remaining validity below which a certificate causes a warning. The operator renews its certificate
	// earlier.
	soon = 7 * 24 * time.Hour
)

// bundle is a webhook's CA bundle.
type bundle struct {
	of   string
	data []byte
}

func checkWebhooks(r *report, facts *Facts) {
	if problem := facts.Definition.Problem; problem != "" {
		r.unknown("the conversion webhook", problem)
	}
	if problem := facts.Webhook.Problem; problem != "" {
		r.unknown("the validating webhook", problem)
	}
	definition := facts.Definition.Value
	if definition != nil && len(definition.Spec.Versions) > 1 && !converts(definition) {
		r.add(Error, "the CustomResourceDefinition has several versions and no conversion webhook, so stacks lose the fields "+
			"that exist in only one version", reinstall)
	}
	if definition != nil && converts(definition) && facts.Webhook.Problem == "" && facts.Webhook.Value == nil {
		r.add(
			Warning,
			fmt.Sprintf("ValidatingWebhookConfiguration %q does not exist, so the API server accepts some invalid stacks, and only "+
				"the operator reports their errors", names.ValidatingWebhookConfiguration),
			reinstall,
		)
	}
	for _, each := range bundles(facts) {
		checkBundle(r, each, facts.Now)
	}
	if len(r.findings) == 0 {
		r.ok("the operator has no webhooks, which is the default if the operator is limited to some namespaces")
	}
}

func converts(definition *apiextensionsv1.CustomResourceDefinition) bool {
	conversion := definition.Spec.Conversion
	return conversion != nil && conversion.Strategy == apiextensionsv1.WebhookConverter && conversion.Webhook != nil &&
		conversion.Webhook.ClientConfig != nil
}

// bundles returns the CA bundles of all webhooks.
func bundles(facts *Facts) []bundle {
	var found []bundle
	if definition := facts.Definition.Value; definition != nil && converts(definition) {
		found = append(found, bundle{"the conversion webhook", definition.Spec.Conversion.Webhook.ClientConfig.CABundle})
	}
	if configuration := facts.Webhook.Value; configuration != nil {
		for i := range configuration.Webhooks {
			webhook := &configuration.Webhooks[i]
			found = append(found, bundle{fmt.Sprintf("the webhook %q", webhook.Name), webhook.ClientConfig.CABundle})
		}
	}
	return found
}

func checkBundle(r *report, b bundle, now time.Time) {
	authorities, broken := certificates(b.data)
	valid := 0
	for _, authority := range authorities {
		if !now.Before(authority.NotBefore) && now.Before(authority.NotAfter) {
			valid++
		}
	}
	switch {
	case len(b.data) == 0:
		r.add(Error, b.of+" has no CA bundle, so the API server does not trust it", restart)
	case broken != "":
		r.add(Error, fmt.Sprintf("the CA bundle of %s is invalid: %s", b.of, broken), restart)
	case valid == 0:
		r.add(Error, "every certificate in the CA bundle of "+b.of+" has expired or is not valid yet", restart)
	default:
		r.ok("the CA bundle of " + b.of + " is valid")
	}
}

// certificates returns the certificates in a PEM string, and the problem if the string is invalid.
func certificates(data []byte) (found []*x509.Certificate, broken string) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, "it contains a certificate that cannot be parsed"
		}
		found = append(found, certificate)
	}
	if len(found) == 0 {
		return nil, "it contains no certificates in PEM format"
	}
	return found, ""
}

func checkCertificate(r *report, facts *Facts) {
	all := bundles(facts)
	served := facts.Certificate.Value
	switch {
	case len(all) == 0:
		return // there are no webhooks, or the caller cannot read them
	case facts.Certificate.Problem != "":
		r.unknown("the webhook certificate", facts.Certificate.Problem)
		return
	case served == nil:
		r.add(Warning, fmt.Sprintf("Secret %q in namespace %q does not contain a webhook certificate",
			names.WebhookCertificateSecret, facts.Namespace), restart)
		return
	case !facts.Now.Before(served.NotAfter):
		r.add(Error, "the webhook certificate expired on "+date(served.NotAfter), restart)
		return
	case served.NotAfter.Sub(facts.Now) < soon:
		r.add(Warning, "the webhook certificate expires on "+date(served.NotAfter), restart)
	default:
		r.ok("the webhook certificate is valid until " + date(served.NotAfter))
	}
	for _, each := range all {
		if err := each.verify(facts); err != nil {
			r.add(Error, fmt.Sprintf("the webhook certificate is not valid for %s: %v", each.of, err), restart)
		}
	}
}

// verify returns an error if the webhooks' certificate cannot be verified with the bundle. For an invalid bundle, it
// returns nil, because checkBundle reports that bundle.
func (b bundle) verify(facts *Facts) error {
	authorities, broken := certificates(b.data)
	if broken != "" {
		return nil
	}
	pool := x509.NewCertPool()
	for _, authority := range authorities {
		pool.AddCert(authority)
	}
	_, err := facts.Certificate.Value.Verify(x509.VerifyOptions{
		Roots: pool, CurrentTime: facts.Now, DNSName: names.WebhookService + "." + facts.Namespace + ".svc",
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	return err
}

func date(at time.Time) string { return at.UTC().Format(time.DateOnly) }
