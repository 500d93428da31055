package retention

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

const (
	// Annotation on a stack names the data whose loss its user accepts.
	Annotation = names.AnnotationAcceptDataLoss
	volumeName = names.DataVolume
)

// Waiting are the losses that a roll-out waits for: those that nothing brings back, and
// that the annotation's value does not accept. unknown are the words of the value that
// name nothing of what is waited for, in their order.
func Waiting(losses []Loss, accepted string) (waiting []Loss, unknown []string) {
	words := words(accepted)
	named := map[string]bool{}
	for _, loss := range losses {
		if !loss.Final {
			continue
		}
		refused := false
		for _, what := range loss.What {
			named[normal(what)] = true
			if !slices.ContainsFunc(words, func(word string) bool { return normal(word) == normal(what) }) {
				refused = true
			}
		}
		if refused {
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

// Unknown tells of words of the annotation that name nothing of what is waited for, as
// it continues a message; empty when there are none.
func Unknown(waiting []Loss, unknown []string) string {
	if len(unknown) == 0 {
		return ""
	}
	var what []string
	for _, loss := range waiting {
		what = append(what, loss.What...)
	}
	return fmt.Sprintf("; the annotation %s says %q, which nothing that is lost is called: write %q",
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

// normal is a name with its API as the configuration spells it: vectorIo/faiss is
// vector_io/faiss.
func normal(what string) string {
	api, id, found := strings.Cut(what, "/")
	api = strings.ReplaceAll(strings.ToLower(api), "_", "")
	if !found {
		return api
	}
	return api + "/" + id
}
