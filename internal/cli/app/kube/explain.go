package kube

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Explain adds the verb and the resource to an error from a request to the API server. It adds a remedy if the API
// server rejects the credentials, the caller lacks a permission, the cluster does not serve the resource, or the
// cluster is unreachable. `namespace` is empty for a request that covers all namespaces.
func Explain(err error, verb string, resource schema.GroupResource, namespace string) error {
	where := "all namespaces"
	check := " -A"
	if namespace != "" {
		where = fmt.Sprintf("namespace %q", namespace)
		check = " -n " + namespace
	}
	switch {
	case err == nil:
		return nil
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the cluster does not accept your credentials; log in again: %w", err)
	case apierrors.IsForbidden(err):
		return &Denied{text: fmt.Sprintf(
			"you cannot %s %s in %s; ask an administrator for that permission, and check it with: kubectl auth can-i %s %s%s",
			verb, resource.String(), where, verb, resource.String(), check), err: err}
	case notServed(err):
		return fmt.Errorf("the cluster does not serve %s; install the operator, or check your kubeconfig context: %w",
			resource.String(), err)
	case isUnreachable(err):
		return fmt.Errorf("cannot reach the cluster; check your kubeconfig context and your network: %w", err)
	default:
		return fmt.Errorf("%s %s in %s: %w", verb, resource.String(), where, err)
	}
}

// Denied is the error for a permission that the caller lacks.
type Denied struct {
	text string
	err  error
}

// Error returns a message that contains the permission, and the command that checks it.
func (d *Denied) Error() string { return d.text }

// Unwrap returns the API server's error.
func (d *Denied) Unwrap() error { return d.err }

// isUnreachable reports whether a request received no response, or the certificate of the API server is not trusted.
func isUnreachable(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}
