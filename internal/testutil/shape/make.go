package shape

import (
	"fmt"
	"strings"
)

type (
	object = map[string]any
	list   = []any
)

// many returns a list of n items.
func many(n int, item func(i int) any) list {
	made := make(list, n)
	for i := range made {
		made[i] = item(i)
	}
	return made
}

// lines repeats the string `format` n times, and replaces %d with the index of the repetition, which begins at 0.
func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(format, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

// keyed returns an object with n fields.
func keyed(n int, key string, value func(i int) any) object {
	made := make(object, n)
	for i := range n {
		made[fmt.Sprintf(key, i)] = value(i)
	}
	return made
}

func constant(value any) func(int) any { return func(int) any { return value } }

const baseHead = "version: 2\ndistro_name: starter\n"

func withBase(text func(n int) string) func(n int) written {
	return func(n int) written { return written{base: baseHead + text(n)} }
}

func withServer(container func(n int) object) func(n int) written {
	return withPod(func(n int) object {
		fields := container(n)
		fields["name"] = "llama-stack"
		return object{"containers": list{fields}}
	})
}

func withPod(spec func(n int) object) func(n int) written {
	return withTemplate(func(n int) object { return object{"spec": spec(n)} })
}

func withTemplate(template func(n int) object) func(n int) written {
	return withOverrides(func(n int) object { return object{"podTemplate": template(n)} })
}

func withOverrides(overrides func(n int) object) func(n int) written {
	return func(n int) written { return written{spec: object{"workload": object{"overrides": overrides(n)}}} }
}

func variable(i int) any { return object{"name": fmt.Sprintf("V%d", i), "value": "1"} }

func secretRef(name, key string) object {
	return object{"secretKeyRef": object{"name": name, "key": key}}
}

// withSecrets returns a spec whose providers have n references to Secrets in total.
func withSecrets(n int) object {
	const most = 64 // per provider
	providers := many((n+most-1)/most, func(at int) any {
		refs := keyed(min(most, n-at*most), "key_%d", func(i int) any { return secretRef(fmt.Sprintf("s%d", (at*most+i)%256), "k") })
		return object{"id": fmt.Sprintf("p%d", at), "provider": "vllm", "endpoint": "http://a", "secretRefs": refs}
	})
	return object{"providers": object{"inference": providers}}
}
