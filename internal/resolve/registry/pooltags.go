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

// Watched is a tag that is compared with the registry, again and again.
type Watched struct {
	Target
	// Soon asks for the first time at once. Otherwise that is spread over the interval between two comparisons, so that an
	// operator that starts does not ask for the tags of all stacks together.
	Soon bool
}

// Tag is what a registry said of a tag.
type Tag struct {
	// Digest that the tag stood for in the last answer. Empty: there was none.
	Digest string
	// Err is why there is no newer answer. Nil: the last attempt had one, or the first one since then failed, which happens.
	Err error
}

// tagTask compares a tag for a stack.
type tagTask struct {
	part
	watched Watched
	found   Tag
	// auth are the credentials of the last answer, nil when they are to be read: a comparison costs no API call.
	// They are for the places that one reader knows: another one may ask elsewhere.
	auth   authn.Authenticator
	authOf *Reader
	// failures since the last answer, and pause before this attempt.
	failures int
	pause    time.Duration
	// soon is set until the first attempt of a tag that is compared at once: an answer to others has to be new.
	soon bool
}

// toldFailures is how many attempts fail one after another before that is told.
const toldFailures = 2

// maxCredentials bounds the credentials that are kept for a tag, in bytes. Larger ones are read each time.
const maxCredentials = 16 << 10

// Watch is what the registry said of a tag; false as long as no attempt has ended. It does not wait: who asks first has
// the tag compared, until Unwatch. Notify is called when the tag stands for another digest, when it cannot be compared,
// and when it can again.
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
		task.pause = rand.N(p.lookAgain()) //nolint:gosec // it spreads attempts, and guards nothing
	}
	p.tags[watched.Stack] = task
	p.queue.AddAfter(key{stack: watched.Stack, kind: compareTag}, task.pause)
	return Tag{}, false
}

// Unwatch drops the tag of a stack that is gone, or whose image has a digest.
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

// handleTag compares the tag of one stack; true when there is news to tell.
func (p *Pool) handleTag(ctx context.Context, stack types.NamespacedName) (news bool) {
	task, reader, old, release := p.beginTag(stack)
	if reader == nil {
		return false
	}
	auth, read := p.compare(ctx, reader, task, old)
	release()
	return ctx.Err() == nil && p.concludeTag(task, reader, auth, read)
}

// beginTag takes a share of the pool for a stack's tag. Nobody else works on the task meanwhile.
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

// compare asks with the credentials of before, and with those that the stack has now where there are none or the registry
// refuses them.
func (p *Pool) compare(ctx context.Context, reader *Reader, task *tagTask, old ages) (authn.Authenticator, reading) {
	if task.auth != nil && task.authOf == reader {
		read := reader.digestAs(ctx, task.watched.Image, only{task.auth}, old)
		if code := statusOf(read.err); code != http.StatusUnauthorized && code != http.StatusForbidden {
			return task.auth, read
		}
	}
	keychain, err := p.options.Credentials(ctx, task.watched.Target)
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

// concludeTag notes what the registry said; true when there is news to tell.
func (p *Pool) concludeTag(task *tagTask, by *Reader, auth authn.Authenticator, read reading) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stack := task.watched.Stack
	if p.tags[stack] != task {
		return false // another tag is in the queue
	}
	before := task.found
	if read.err != nil {
		task.auth, task.failures = nil, task.failures+1
		// A shorter interval between two comparisons bounds the pause between two attempts, too.
		task.pause = min(p.pause(Outcome{Err: read.err, asked: read.asked}, task.failures-1), p.lookAgain())
		if task.failures >= toldFailures || before == (Tag{}) && task.watched.Soon {
			task.found.Err = read.err
		}
		p.options.Log.V(1).Info("Tag cannot be compared", "stack", stack.String(), "image", task.watched.Image, "error", read.err.Error())
	} else {
		task.auth, task.authOf, task.failures, task.found = auth, by, 0, Tag{Digest: read.image.Digest}
		task.pause = p.pause(Outcome{Image: read.image, asked: read.asked}, 0)
	}
	p.queue.AddAfter(key{stack: stack, kind: compareTag}, task.pause)
	return before.Digest != task.found.Digest || (before.Err == nil) != (task.found.Err == nil)
}

// small are credentials that can be kept; nil: they are too large, or there are none to keep.
func small(ctx context.Context, auth authn.Authenticator) authn.Authenticator {
	switch auth {
	case nil:
		return nil
	case authn.Anonymous:
		return auth // the operator's own identity may stand for it
	}
	config, err := authn.Authorization(ctx, auth)
	if err != nil {
		return nil
	}
	if size := len(config.Username) + len(config.Password) + len(config.Auth) + len(config.IdentityToken) + len(config.RegistryToken); size > maxCredentials {
		return nil
	}
	return authn.FromConfig(*config)
}
