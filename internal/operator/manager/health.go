package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// warmUp starts every cache in every replica, so that readiness has the same meaning in all replicas and a new leader
// starts immediately. It waits while the API server does not serve a kind, because a CustomResourceDefinition may be
// created after the operator starts.
type warmUp struct {
	cache cache.Cache
	kinds []client.Object
	log   logr.Logger
	retry time.Duration
	ready atomic.Bool
}

// Start waits until every cache is filled, and then blocks until ctx ends.
func (w *warmUp) Start(ctx context.Context) error {
	for _, kind := range w.kinds {
		// The only possible error is that the context has ended.
		_ = wait.PollUntilContextCancel(ctx, w.retry, true, func(ctx context.Context) (bool, error) {
			_, err := w.cache.GetInformer(ctx, kind)
			if err != nil && ctx.Err() == nil {
				w.log.Error(err, "The operator cannot watch a kind yet; retrying", "kind", fmt.Sprintf("%T", kind))
			}
			return err == nil, nil
		})
	}
	w.ready.Store(ctx.Err() == nil)
	<-ctx.Done()
	return nil
}

// NeedLeaderElection returns false, because replicas that wait for the lease must be ready too.
func (w *warmUp) NeedLeaderElection() bool { return false }

// check is the readiness check.
func (w *warmUp) check(*http.Request) error {
	if !w.ready.Load() {
		return errors.New("the caches are not filled yet; if this persists, check the operator's log, and verify that the " +
			"CustomResourceDefinition exists")
	}
	return nil
}
