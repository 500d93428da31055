package registry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"k8s.io/apimachinery/pkg/types"
)

// Watched is a tag that the pool regularly compares with the registry.
type Watched struct {
	Target
	// Soon requests the first comparison at once. Otherwise, the pool makes the first comparison at a random time within
	// the interval, so that a newly started operator does not compare the tags of all stacks at the same time.
	Soon bool
}

// Tag is the result of comparing a tag.
type Tag struct {
	// Digest is the digest that the tag referred to in the last answer. Empty means that there was no answer.
	Digest string
	// Err is the reason why there is no newer answer. Nil means that the last attempt succeeded, or that only the last
	// attempt failed. The pool does not report a single failure, unless the first attempt fails and Soon is set.
	Err error
}

// tagTask compares a tag for a stack.
type tagTask struct {
	part
	watched Watched
	found   Tag
	// auth holds the credentials that were used for the last answer, so that a comparison needs no request to the API
	// server. Nil means that the pool has to read the credentials. The credentials are valid only for authOf, because
	// another Reader can read the image from a different repository.
	auth   authn.Authenticator
	authOf *Reader
	// failures is the number of failures since the last answer. pause is the pause before this attempt.
	failures int
	pause    time.Duration
	// soon reports whether the next attempt was requested through Watched.Soon. That attempt uses an answer for another
	// stack only if the answer is recent (PoolOptions.Fresh).
	soon bool
}

// toldFailures is the number of consecutive failures after which Watch reports the failure.
const toldFailures = 2

// maxCredentials is the maximum size, in bytes, of the credentials that the pool keeps for a tag, or for the images of
// a stack's external providers. The pool reads larger credentials for each comparison or image.
const maxCredentials = 16 << 10

// Watch returns the result of comparing a tag. It returns false until an attempt ends. It does not wait: the first call
// starts the comparisons, which continue until Unwatch. The pool calls Notify when the tag refers to another digest,
// when the pool cannot compare the tag, and when it can compare the tag again.
func (p *Pool) Watch(watched Watched) (Tag, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.tags[watched.Stack]
	if ok && known.watched.Target == watched.Target {
		if watched.Soon && !known.watched.Soon {
			known.soon = true
			p.queue.Add(key{stack: watched.Stack, kind: compareTag})
		}
		known.watched.Soon = watched.Soon
		return known.found, known.found != Tag{}
	}
	p.unwatch(watched.Stack)
	task := &tagTask{watched: watched, part: part{namespace: watched.Stack.Namespace}, soon: watched.Soon}
	if !watched.Soon {
		task.pause = rand.N(p.lookAgain()) //nolint:gosec // it spreads attempts, which needs no secure random numbers
	}
	p.tags[watched.Stack] = task
	p.queue.AddAfter(key{stack: watched.Stack, kind: compareTag}, task.pause)
	return Tag{}, false
}

// Unwatch drops the tag of a stack that is deleted, or whose image is pinned by digest.
func (p *Pool) Unwatch(stack types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unwatch(stack)
}

func (p *Pool) unwatch(stack types.NamespacedName) {
	if task, ok := p.tags[stack]; ok {
		p.setBusy(&task.part, false)
		delete(p.tags, stack)
	}
}

// handleTag compares the tag of one stack. It reports whether the stack must be notified.
func (p *Pool) handleTag(ctx context.Context, stack types.NamespacedName) (news bool) {
	task, reader, old, release := p.beginTag(stack)
	if reader == nil {
		return false
	}
	auth, read := p.compare(ctx, reader, task, old)
	release()
	return ctx.Err() == nil && p.concludeTag(task, reader, auth, read)
}

// beginTag takes a share of the pool for a stack's tag. Until the task is concluded, no other goroutine works on it.
func (p *Pool) beginTag(stack types.NamespacedName) (*tagTask, *Reader, ages, func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	task, ok := p.tags[stack]
	if !ok {
		return nil, nil, ages{}, nil
	}
	release, ok := p.take(&task.part, key{stack: stack, kind: compareTag}, task.watched.Image)
	if !ok {
		return nil, nil, ages{}, nil
	}
	old := ages{known: p.lookAgain(), failed: task.pause / 2, patient: true}
	if task.soon {
		old.known = p.options.Fresh
	}
	task.soon = false
	return task, p.reader, old, release
}

// compare sends a request with the credentials that were used for the last answer. If there are no such credentials, or
// if the registry refuses them, it reads the stack's current credentials.
func (p *Pool) compare(ctx context.Context, reader *Reader, task *tagTask, old ages) (authn.Authenticator, reading) {
	if task.auth != nil && task.authOf == reader {
		read := reader.digestAs(ctx, task.watched.Image, only{task.auth}, old)
		if code := statusOf(read.err); code != http.StatusUnauthorized && code != http.StatusForbidden {
			return task.auth, read
		}
	}
	keychain, err := p.options.Credentials(ctx, task.watched.Target, reader.repositories(task.watched.Image))
	if err != nil {
		return nil, reading{err: err}
	}
	auth, err := reader.authenticator(ctx, task.watched.Image, keychain)
	if err != nil {
		return nil, reading{err: fmt.Errorf("compare image %q: %w", task.watched.Image, err)}
	}
	read := reader.digestAs(ctx, task.watched.Image, keychain, old)
	return small(ctx, auth), read
}

// concludeTag records the registry's answer. It reports whether the stack must be notified.
func (p *Pool) concludeTag(task *tagTask, by *Reader, auth authn.Authenticator, read reading) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stack := task.watched.Stack
	if p.tags[stack] != task {
		return false // a different tag is in the queue
	}
	before := task.found
	if read.err != nil {
		task.auth, task.failures = nil, task.failures+1
		// The pause between attempts is never longer than the interval between comparisons.
		task.pause = min(p.pause(Outcome{Err: read.err, asked: read.asked}, task.failures-1), p.lookAgain())
		if task.failures >= toldFailures || before == (Tag{}) && task.watched.Soon {
			task.found.Err = read.err
		}
		p.options.Log.V(1).Info("The operator cannot read the digest of the tag", "stack", stack.String(),
			"image", task.watched.Image, "error", read.err.Error())
	} else {
		task.auth, task.authOf, task.failures, task.found = auth, by, 0, Tag{Digest: read.image.Digest}
		task.pause = p.pause(Outcome{Image: read.image, asked: read.asked}, 0)
	}
	p.queue.AddAfter(key{stack: stack, kind: compareTag}, task.pause)
	return before.Digest != task.found.Digest || (before.Err == nil) != (task.found.Err == nil)
}

// small returns the credentials if they can be kept. It returns nil if they are too large, cannot be used, or are nil.
func small(ctx context.Context, auth authn.Authenticator) authn.Authenticator {
	switch auth {
	case nil:
		return nil
	case authn.Anonymous:
		return auth // the operator's own identity can replace the anonymous credentials
	}
	config, err := authn.Authorization(ctx, auth)
	if err != nil {
		return nil
	}
	if size := len(config.Username) + len(config.Password) + len(config.Auth) + len(config.IdentityToken) +
		len(config.RegistryToken); size > maxCredentials {
		return nil
	}
	return authn.FromConfig(*config)
}
