package share

import "testing"

// Work that ends between Len and Pop does not take back the item that Len promised. The work counts from the next item
// on.
func TestSlowWorkBetweenLenAndPop(t *testing.T) {
	turns := newTurns(2, 1, 0, func(namespace string) string { return namespace })
	turns.worked("stalled", slowWork)
	turns.Push("stalled")
	turns.Pop()
	turns.Push("slow")
	if turns.Len() != 1 {
		t.Fatal("a namespace that is not slow has no place")
	}
	turns.worked("slow", slowWork)
	if turns.Len() != 1 || turns.Pop() != "slow" {
		t.Fatal("an item that was promised is not there")
	}
	turns.release("slow")
	turns.Push("slow")
	if turns.Len() != 0 {
		t.Error("two slow namespaces have both places")
	}
}
