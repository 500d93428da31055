//go:build js && wasm

// Command wasm provides the pure pipeline to the playground's script as a WebAssembly program.
package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"syscall/js"

	"github.com/llamastack/llama-stack-k8s-operator/internal/playground"
)

// In the web worker, main sets a global object with two functions. It never returns, because the functions work only
// while the program runs. Both functions return JSON.
func main() {
	debug.SetGCPercent(400) // trades memory for time, because the garbage collector uses the program's only thread
	var page playground.Playground
	js.Global().Set("llamaStack", map[string]any{
		"releases": js.FuncOf(func(js.Value, []js.Value) any { return text(playground.Known()) }),
		"run": js.FuncOf(func(_ js.Value, args []js.Value) any {
			options := playground.Options{Release: args[1].String(), Objects: args[2].Bool()}
			if earlier := args[3]; earlier.Truthy() {
				options.Earlier = &playground.Version{
					Manifest: earlier.Get("manifest").String(), Release: earlier.Get("release").String(),
				}
			}
			return text(page.Run(args[0].String(), options))
		}),
	})
	select {}
}

func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil { // the values contain only strings and numbers
		panic(fmt.Sprintf("encode a result: %v", err))
	}
	return string(data)
}
