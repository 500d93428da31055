package resolve

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/cabundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// Values holds what the operator keeps of referenced Secrets: a digest of all values, and the values from which it
// derives others. Its text form does not contain the values.
type Values struct {
	// data holds the values that Get returns.
	data map[keyRef][]byte
	// authorities holds the CA certificates (ca.crt) in the Secrets of serving certificates, keyed by Secret. No pod reads
	// these CA certificates, so no digest contains them.
	authorities map[string][]byte
	// digest is the keyed digest of all values.
	digest string
	// expiring is the Secret whose certificate expires first, and expiry is the time at which it expires.
	expiring string
	expiry   time.Time
}

type keyRef struct{ secret, key string }

// String keeps values out of logs.
func (Values) String() string { return "(secret values)" }

// GoString keeps values out of logs.
func (v Values) GoString() string { return v.String() }

// Get returns the value of a key in a Secret. The value must be a connection string or a password, or the certificate
// of a server, because no other values are kept.
func (v Values) Get(secret, key string) ([]byte, bool) {
	value, ok := v.data[keyRef{secret, key}]
	return value, ok
}

// kept reports whether Get must return the value of a use: the operator derives parts from it, or checks that servers
// present it.
func kept(use intent.SecretUse) bool {
	switch use.Purpose {
	case intent.PurposeConnectionString, intent.PurposePassword:
		return true
	case intent.PurposeCertificate:
		return use.Key == names.TLSCertificate
	default:
		return false
	}
}

// Serving returns the certificate in a Secret, with its authorities. It returns nil if no certificate was read from the
// Secret.
func (v Values) Serving(secret string) *cabundle.Serving {
	return cabundle.NewServing(v.data[keyRef{secret, names.TLSCertificate}], v.authorities[secret])
}

// Expiry returns the Secret whose certificate expires first, and the time at which it expires. An empty name means that
// there is no certificate.
func (v Values) Expiry() (secret string, end time.Time) { return v.expiring, v.expiry }

// add keeps the values of a Secret that are needed after the Secret was read. It also records the expiry time of a
// certificate that expires before all certificates added earlier.
func (v *Values) add(name string, secret *corev1.Secret, uses []intent.SecretUse) {
	for _, use := range uses {
		if kept(use) {
			v.data[keyRef{name, use.Key}] = secret.Data[use.Key]
		}
	}
	if !slices.ContainsFunc(uses, ofCertificate) {
		return
	}
	leaf, err := cabundle.ParseLeaf(secret.Data[names.TLSCertificate])
	if err == nil && (v.expiring == "" || leaf.NotAfter.Before(v.expiry)) {
		v.expiring, v.expiry = name, leaf.NotAfter
	}
}

func ofCertificate(use intent.SecretUse) bool { return use.Purpose == intent.PurposeCertificate }

// Digest returns a keyed digest of all values, in hex. The digest changes if a value changes, and reveals nothing about
// the values. It is empty if there are no values.
func (v Values) Digest() string { return v.digest }

// SecretQuery describes the Secret values to read.
type SecretQuery struct {
	Namespace string
	// Cache holds the metadata of Secrets. The metadata may be out of date.
	Cache client.Reader
	Uses  []intent.SecretUse
	// Key is the key of the digest of all values.
	Key DigestKey
	// Budget counts the values, and the authorities of certificates. Nil means a budget that nothing else uses.
	Budget *Budget
	// Text reports whether the server expects text, rather than a number, for a variable.
	Text func(variable string) bool
	// Now is the current time. A certificate that expired before this time cannot be used.
	Now time.Time
	// Answers remembers earlier queries. Nil means that every Secret is read.
	Answers *Answers
	// Changed reports whether the stack has changed since its last reconcile. A Secret that changed at the same time may
	// not be in Cache yet, so every Secret is read.
	Changed bool
}

// Secrets reads each referenced Secret once, by its name. It checks that every key exists, is not empty and reaches the
// server unchanged, and that certificates are valid. If a value cannot be used, the error is a *status.Failure that
// lists every problem. Secrets holds one Secret at a time: it digests the values in the order of their names, and
// stops when they exceed the budget.
func Secrets(ctx context.Context, direct client.Reader, query SecretQuery) (Values, error) {
	values := Values{data: map[keyRef][]byte{}, authorities: map[string][]byte{}}
	wanted, found := query.bySecret(), map[intent.SecretUse]*facts.Unusable{}
	digest := &digester{mac: hmac.New(sha256.New, query.Key.bytes), empty: true}
	if query.Budget == nil {
		query.Budget = &Budget{}
	}
	cached, err := query.versions(ctx, wanted)
	if err != nil {
		return Values{}, err
	}
	key, repeatable := query.answerKey(wanted, cached)
	if known, ok := query.Answers.get(key); ok && repeatable && !query.Changed && query.Budget.Take(known.bytes) {
		return Values{digest: known.digest}, nil
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		uses := wanted[name]
		secret, err := query.read(ctx, direct, name, cached[name])
		if err != nil {
			return Values{}, err
		}
		repeatable = repeatable && secret != nil && secret.ResourceVersion == cached[name]
		size := values.keepAuthorities(secret, uses)
		secret = only(secret, uses)
		for _, use := range uses {
			found[use] = facts.CheckSecret(use, query.Namespace, secret, query.Text(use.EnvVar), query.Now)
		}
		if secret == nil {
			continue
		}
		size += bytesOf(secret)
		if !query.Budget.Take(size) {
			return Values{}, exceeded(v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonSecretValueUnusable,
				fmt.Sprintf("Secret %q in namespace %q", name, query.Namespace), uses[0].Path)
		}
		total += size
		digest.add(name, secret, uses)
		values.add(name, secret, uses)
	}
	values.digest = digest.sum()
	if err := query.problems(found); err != nil || !repeatable {
		return values, err
	}
	query.Answers.add(key, answer{digest: values.digest, bytes: total})
	return values, nil
}

// problems returns the failure for the problems with the uses, in the order of the query, or nil if there are none.
func (q *SecretQuery) problems(found map[intent.SecretUse]*facts.Unusable) error {
	all := &problems{condition: v1alpha2.ConditionSecretsResolved}
	for _, use := range q.Uses {
		if one := found[use]; one != nil {
			all.add(one.Reason, one.Sentence, use.Path)
		}
	}
	return all.failure()
}

// keepAuthorities copies the CA certificates in the Secret of a serving certificate, and returns their size. If they
// are too long, it keeps only the part that is necessary to detect the excessive length.
func (v *Values) keepAuthorities(secret *corev1.Secret, uses []intent.SecretUse) int {
	if secret == nil || !slices.ContainsFunc(uses, ofCertificate) {
		return 0
	}
	text := secret.Data[names.TLSAuthority]
	v.authorities[secret.Name] = bytes.Clone(text[:min(len(text), cabundle.MaxAuthorities+1)])
	return len(v.authorities[secret.Name])
}

// bytesOf returns the size of the values in a Secret.
func bytesOf(secret *corev1.Secret) int {
	total := 0
	for _, value := range secret.Data {
		total += len(value)
	}
	return total
}

// bySecret groups the uses by Secret.
func (q *SecretQuery) bySecret() map[string][]intent.SecretUse {
	keys := map[string][]intent.SecretUse{}
	for _, use := range q.Uses {
		keys[use.Secret] = append(keys[use.Secret], use)
	}
	return keys
}

// only returns a copy of a Secret with only the keys in `uses`, because a Secret can hold a megabyte of other keys, and
// a stack can refer to many Secrets. If a value other than a certificate is too long for an environment variable, the
// copy contains only the part that is necessary to detect the excessive length.
func only(secret *corev1.Secret, uses []intent.SecretUse) *corev1.Secret {
	if secret == nil {
		return nil
	}
	kept := &corev1.Secret{Type: secret.Type, Data: make(map[string][]byte, len(uses))}
	for _, use := range uses {
		value, ok := secret.Data[use.Key]
		if !ok {
			continue
		}
		if len(value) > secretvalue.MaxVariable && use.Purpose != intent.PurposeCertificate {
			value = bytes.Clone(value[:secretvalue.MaxVariable])
		}
		if len(value) > len(kept.Data[use.Key]) || kept.Data[use.Key] == nil {
			kept.Data[use.Key] = value
		}
	}
	return kept
}

// versions returns the cached version of each Secret. It is empty for a Secret that is not in the cache.
func (q *SecretQuery) versions(ctx context.Context, wanted map[string][]intent.SecretUse) (map[string]string, error) {
	found := make(map[string]string, len(wanted))
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		known := &metav1.PartialObjectMetadata{}
		known.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
		err := q.Cache.Get(ctx, types.NamespacedName{Namespace: q.Namespace, Name: name}, known, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read cached Secret %q: %w", name, err)
		}
		found[name] = known.ResourceVersion
	}
	return found, nil
}

// read returns one Secret, or nil if it does not exist. A Secret at least as new as the cached metadata is enough,
// because a later change triggers a reconcile of every stack that refers to the Secret. The API server can serve such a
// read from its cache.
func (q *SecretQuery) read(ctx context.Context, direct client.Reader, name, atLeast string) (*corev1.Secret, error) {
	var secret corev1.Secret
	err := direct.Get(ctx, types.NamespacedName{Namespace: q.Namespace, Name: name}, &secret,
		&client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: atLeast}})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Secret %q: %w", name, err)
	}
	return &secret, nil
}

// problems collects the problems with references. Each sentence appears once, with every field that it applies to.
type problems struct {
	condition string
	reason    string
	sentences []string
	paths     map[string][]string
}

func (p *problems) add(reason, sentence, path string) {
	if p.reason == "" {
		p.reason, p.paths = reason, map[string][]string{}
	}
	if _, known := p.paths[sentence]; !known {
		p.sentences = append(p.sentences, sentence)
	}
	if !slices.Contains(p.paths[sentence], path) {
		p.paths[sentence] = append(p.paths[sentence], path)
	}
}

func (p *problems) failure() error {
	if p.reason == "" {
		return nil
	}
	lines := make([]string, len(p.sentences))
	for i, sentence := range p.sentences {
		lines[i] = sentence + ". Referenced by: " + strings.Join(p.paths[sentence], ", ")
	}
	return &status.Failure{
		Condition: p.condition, Reason: p.reason, Message: strings.Join(lines, "\n"), Retry: status.OnReferenceChange,
	}
}

// Derive computes the values of the Secret with connection parts from the values of other Secrets. Connection parts are
// the parts of a PostgreSQL connection string, such as its host and user, and URL-encoded values (secretvalue.Part).
func (v Values) Derive(namespace string, entries []secretvalue.Derived) (map[string][]byte, error) {
	derived := make(map[string][]byte, len(entries))
	for _, entry := range entries {
		value, _ := v.Get(entry.Secret, entry.SecretKey)
		part, err := entry.Derive(string(value))
		if err != nil {
			return nil, &status.Failure{
				Condition: v1alpha2.ConditionSecretsResolved, Reason: v1alpha2.ReasonSecretValueUnusable,
				Message: fmt.Sprintf("Key %q of Secret %q in namespace %q cannot be used: %v. Referenced by: %s",
					entry.SecretKey, entry.Secret, namespace, err, entry.FieldPath),
				Retry: status.OnReferenceChange,
			}
		}
		derived[entry.Key] = []byte(part)
	}
	return derived, nil
}
