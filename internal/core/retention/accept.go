package retention

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	// Annotation is the stack annotation that contains the names of the data whose loss the user accepts.
	Annotation = names.AnnotationAcceptDataLoss
	volumeName = names.DataVolume
)

// Waiting returns the losses that block a rollout: final losses that the value of the annotation does not accept. The
// result `unknown` lists, in order, the words in the value that match no final loss. If no loss blocks the rollout,
// both results are nil.
func Waiting(losses []Loss, accepted string) (waiting []Loss, unknown []string) {
	words := words(accepted)
	named := map[string]bool{}
	for _, loss := range losses {
		if !loss.Final {
			continue
		}
		for _, what := range loss.What {
			named[normal(what)] = true
		}
		if !loss.accepted(words) {
			waiting = append(waiting, loss)
		}
	}
	if len(waiting) == 0 {
		return nil, nil
	}
	for _, word := range words {
		if !named[normal(word)] {
			unknown = append(unknown, short(word))
		}
	}
	return waiting, unknown
}

// accepted reports whether the words name all the data of the loss.
func (l Loss) accepted(words []string) bool {
	return !slices.ContainsFunc(l.What, func(what string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return normal(word) == normal(what) })
	})
}

// Unknown returns a suffix for a message. The suffix names the words in the annotation that match none of the losses.
// It is empty if there are no such words.
func Unknown(waiting []Loss, unknown []string) string {
	if len(unknown) == 0 {
		return ""
	}
	var what []string
	for _, loss := range waiting {
		what = append(what, loss.What...)
	}
	return fmt.Sprintf("; the annotation %s contains %q, which does not name any of the lost data; set the annotation to %q",
		Annotation, strings.Join(unknown, ", "), strings.Join(what, ","))
}

func words(value string) []string {
	var found []string
	for word := range strings.SplitSeq(value, ",") {
		if word = strings.TrimSpace(word); word != "" {
			found = append(found, word)
		}
	}
	return found
}

// normal returns a name with its API in lower case and without underscores: vectorIo/faiss and vector_io/faiss become
// vectorio/faiss.
func normal(what string) string {
	api, id, found := strings.Cut(what, "/")
	api = strings.ReplaceAll(strings.ToLower(api), "_", "")
	if !found {
		return api
	}
	return api + "/" + id
}
