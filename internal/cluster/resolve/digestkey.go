package resolve

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	digestKeyField = "key"
	digestKeySize  = 32
)

// DigestKey is the key for digests of secret values. Without a key, users could find a value by comparing its digest in
// an annotation with the digests of guesses.
type DigestKey struct {
	// ID identifies the key without revealing it.
	ID    string
	bytes []byte
}

// For returns the key for a namespace. The same value has a different digest in each namespace, so that users cannot
// find a value in another namespace by comparing its digest with digests in their own namespace.
func (k DigestKey) For(namespace string) DigestKey {
	mac := hmac.New(sha256.New, k.bytes)
	mac.Write([]byte("namespace " + namespace))
	return newDigestKey(mac.Sum(nil))
}

// digestLength is the length of a digest in bytes.
const digestLength = 16

// Digest returns a keyed digest, in hex, of the content of a Secret.
func (k DigestKey) Digest(data map[string][]byte) string {
	mac := hmac.New(sha256.New, k.bytes)
	for _, name := range slices.Sorted(maps.Keys(data)) {
		writePart(mac, []byte(name))
		writePart(mac, data[name])
	}
	return sumOf(mac)
}

// writePart adds a part to a digest. The length of each part precedes the part, so that different parts never result in
// the same input.
func writePart(mac hash.Hash, part []byte) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(part)))
	mac.Write(length[:])
	mac.Write(part)
}

func sumOf(mac hash.Hash) string { return hex.EncodeToString(mac.Sum(nil)[:digestLength]) }

// digester computes the digest of values while they are read.
type digester struct {
	mac   hash.Hash
	empty bool
}

// add adds the values of a Secret to which uses refer, each once. The Secrets must be added in the order of their
// names.
func (d *digester) add(name string, secret *corev1.Secret, uses []intent.SecretUse) {
	keys := map[string]bool{}
	for _, use := range uses {
		keys[use.Key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		d.empty = false
		writePart(d.mac, []byte(name))
		writePart(d.mac, []byte(key))
		writePart(d.mac, secret.Data[key])
	}
}

// sum returns the digest. It is empty if there are no values.
func (d *digester) sum() string {
	if d.empty {
		return ""
	}
	return sumOf(d.mac)
}

// String returns the ID, to keep the key out of logs.
func (k DigestKey) String() string { return k.ID }

// GoString returns the ID, to keep the key out of logs.
func (k DigestKey) GoString() string { return k.ID }

func newDigestKey(data []byte) DigestKey {
	sum := sha256.Sum256(data)
	return DigestKey{ID: hex.EncodeToString(sum[:4]), bytes: data}
}

// DigestKeys reads the operator's digest key from a Secret in the operator's namespace. It creates the Secret if it
// does not exist, and reads it once.
type DigestKeys struct {
	client    client.Client
	namespace string

	mu  sync.Mutex
	key *DigestKey
}

// NewDigestKeys returns a DigestKeys that keeps the key in a Secret in the given namespace. The client must not use a
// cache.
func NewDigestKeys(direct client.Client, namespace string) *DigestKeys {
	return &DigestKeys{client: direct, namespace: namespace}
}

// Get returns the key, and creates it if it does not exist.
func (d *DigestKeys) Get(ctx context.Context) (DigestKey, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.key != nil {
		return *d.key, nil
	}
	data, err := d.read(ctx)
	if apierrors.IsNotFound(err) {
		err = d.create(ctx)
		if err == nil || apierrors.IsAlreadyExists(err) {
			data, err = d.read(ctx)
		}
	}
	if err != nil {
		return DigestKey{}, fmt.Errorf("get the digest key from Secret %q in namespace %q: %w", names.DigestKeySecret, d.namespace, err)
	}
	key := newDigestKey(data)
	d.key = &key
	return key, nil
}

func (d *DigestKeys) read(ctx context.Context) ([]byte, error) {
	var secret corev1.Secret
	if err := d.client.Get(ctx, client.ObjectKey{Namespace: d.namespace, Name: names.DigestKeySecret},
		&secret); err != nil {
		return nil, err
	}
	data := secret.Data[digestKeyField]
	if len(data) < digestKeySize {
		return nil, fmt.Errorf("key %q has %d bytes, but needs at least %d; delete the Secret so that the operator creates it again", digestKeyField, len(data), digestKeySize)
	}
	return data, nil
}

// create sends a create request and does not use server-side apply. If two operators run at the same time, only one of
// them may create the key, and the other one must not replace it.
func (d *DigestKeys) create(ctx context.Context) error {
	key := make([]byte, digestKeySize)
	if _, err := rand.Read(key); err != nil {
		return fmt.Errorf("generate a key: %w", err)
	}
	return d.client.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.namespace, Name: names.DigestKeySecret,
			Labels: map[string]string{names.LabelManagedBy: names.ManagedBy},
		},
		Immutable: new(true),
		Data:      map[string][]byte{digestKeyField: key},
	}, client.FieldOwner(names.FieldManager))
}
