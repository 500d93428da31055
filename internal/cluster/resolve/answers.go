package resolve

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"

	"k8s.io/utils/lru"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// maxAnswers is the maximum number of remembered answers, each of which needs about 200 bytes.
const maxAnswers = 4096

// Answers remembers the digests of Secrets that were found to be usable. The stacks that refer to the same keys, and
// later reconciles, then do not read an unchanged Secret again. It holds no values of Secrets.
type Answers struct{ byKey *lru.Cache }

// NewAnswers returns Answers without an entry.
func NewAnswers() *Answers { return &Answers{lru.New(maxAnswers)} }

type answerKey [sha256.Size]byte

// answer is the answer to a query: the digest of all values, and their size for the budget.
type answer struct {
	digest string
	bytes  int
}

func (a *Answers) get(key answerKey) (answer, bool) {
	if a == nil {
		return answer{}, false
	}
	found, ok := a.byKey.Get(key)
	if !ok {
		return answer{}, false
	}
	return found.(answer), true //nolint:forcetypeassert // nothing else is put into it
}

func (a *Answers) add(key answerKey, found answer) {
	if a != nil {
		a.byKey.Add(key, found)
	}
}

// answerKey returns what the answer to a query depends on. It returns false if a later query can have another answer:
// a Secret is not in the cache, a certificate can expire, or the operator needs a value itself.
func (q *SecretQuery) answerKey(
	wanted map[string][]intent.SecretUse, cached map[string]string,
) (key answerKey, ok bool) {
	hash := sha256.New()
	writePart(hash, []byte(q.Namespace))
	writePart(hash, []byte(q.Key.ID))
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if cached[name] == "" {
			return key, false
		}
		writePart(hash, []byte(name))
		writePart(hash, []byte(cached[name]))
		for _, use := range wanted[name] {
			if kept(use) || ofCertificate(use) {
				return key, false
			}
			writePart(hash, []byte(use.Key))
			writePart(hash, []byte(use.EnvVar))
			writePart(hash, strconv.AppendBool(nil, q.Text(use.EnvVar)))
		}
		writePart(hash, nil) // no use has an empty key
	}
	return answerKey(hash.Sum(nil)), true
}
