package cloud

import (
	"context"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"k8s.io/utils/lru"
)

const (
	// maxTokens bounds the tokens that are kept. Which registries they are for is in the hands of an administrator.
	maxTokens = 128
	// renewBefore is how long before its end a token is renewed, unless a quarter of its life is less.
	renewBefore = 5 * time.Minute
	// leastLife is what a token has left that is handed out: a read takes less.
	leastLife = 20 * time.Second
	// mostLife bounds how long a token is kept, whatever is said of its end.
	mostLife = 12 * time.Hour
	// failedFor is how long nobody is asked after a failure, unless the cloud wants a longer pause.
	failedFor = 20 * time.Second
	// forgetAfter is how old a token has to be to be replaced because a registry does not take it.
	forgetAfter = 5 * time.Minute
)

// tokens are kept until shortly before they expire. What is asked for at the same time is got once.
type tokens struct {
	mu   sync.Mutex
	kept *lru.Cache // key → *token
}

// token is the last one, and the last attempt to get one.
type token struct {
	credentials
	got, renew time.Time
	// flight ends the attempt that is under way; nil: none is.
	flight chan struct{}
	// err is why the last attempt failed, and again when another one may be made.
	err   error
	again time.Time
}

func newTokens() *tokens { return &tokens{kept: lru.New(maxTokens)} }

// get gives the credentials of a key. An attempt to renew them that fails does no harm as long as the old ones are good.
func (t *tokens) get(ctx context.Context, key string, fetch func() (credentials, error)) (authn.AuthConfig, error) {
	t.mu.Lock()
	one := t.of(key)
	if config, err, done := one.known(time.Now()); done {
		t.mu.Unlock()
		return config, err
	}
	if one.flight == nil {
		one.flight = make(chan struct{})
		go t.fetch(one, fetch)
	}
	flight := one.flight
	t.mu.Unlock()
	select {
	case <-flight:
	case <-ctx.Done():
		return authn.AuthConfig{}, ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	config, err, _ := one.known(time.Now())
	return config, err
}

func (t *tokens) of(key string) *token {
	if one, ok := t.kept.Get(key); ok {
		return one.(*token)
	}
	one := &token{}
	t.kept.Add(key, one)
	return one
}

// known is what is known without asking anybody. Not done: somebody should be asked.
func (t *token) known(now time.Time) (config authn.AuthConfig, err error, done bool) { //nolint:revive // whether there is an answer, which may be an error
	good := t.good(now)
	switch {
	case good && now.Before(t.renew), good && now.Before(t.again):
		return t.config, nil, true
	case good:
		return t.config, nil, false
	case now.Before(t.again):
		return authn.AuthConfig{}, t.err, true
	default:
		return authn.AuthConfig{}, t.err, false
	}
}

// fetch makes an attempt.
func (t *tokens) fetch(one *token, fetch func() (credentials, error)) {
	found, err := fetch()
	now := time.Now()
	if limit := now.Add(mostLife); found.expires.After(limit) {
		found.expires = limit
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.err = err; err == nil {
		life := found.expires.Sub(now)
		one.credentials, one.got, one.renew = found, now, found.expires.Add(-min(renewBefore, life/4))
	} else {
		one.again = now.Add(max(failedFor, pauseOf(err)))
	}
	close(one.flight)
	one.flight = nil
}

// forget has a token replaced.
func (t *tokens) forget(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one, ok := t.kept.Get(key); ok && time.Since(one.(*token).got) > forgetAfter {
		one.(*token).credentials = credentials{}
	}
}
