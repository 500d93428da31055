// The worker runs the operator's pipeline. It first receives the compiled program with a sample, and then one manifest
// at a time.
import "./wasm_exec.js";

self.onmessage = async ({ data }) => {
  if (data.module) {
    const go = new Go();
    const instance = await WebAssembly.instantiate(data.module, go.importObject);
    go.run(instance).catch(() => {}).finally(() => self.postMessage({ ended: true }));
    // The browser compiles a function at its first call, so the first run takes longer.
    llamaStack.run(data.sample, "", true, undefined);
    self.postMessage({ releases: JSON.parse(llamaStack.releases()) });
    return;
  }
  const started = performance.now();
  const result = JSON.parse(llamaStack.run(data.manifest, data.release, data.objects, data.earlier));
  self.postMessage({ id: data.id, result, took: performance.now() - started });
};
