package share

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Recovered calls a function and returns a panic as an error. The workers process the input of all namespaces, so a
// defect that some input triggers must not end the operator. The transforms, indexes and event handlers of caches do
// end it: with a cache that lacks an object, the operator would give the host name of a stack to another one.
func Recovered(do func()) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	do()
	return nil
}

// Parallel calls a function for all numbers concurrently. It passes a panic on to the caller, which can handle it.
func Parallel(all []int, do func(int)) {
	var group sync.WaitGroup
	panics := make([]error, len(all))
	for i, one := range all {
		group.Go(func() { panics[i] = Recovered(func() { do(one) }) })
	}
	group.Wait()
	for _, cause := range panics {
		if cause != nil {
			panic(cause)
		}
	}
}
