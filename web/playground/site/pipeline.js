// Runs manifests in a worker, the newest one last. A run that takes too long ends with its worker.

// The longest run in milliseconds.
const MAX_RUN = 5000;

// fetchModule returns the compiled program. Its file is compressed, unless the server has decompressed it already.
async function fetchModule(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the server answers ${response.status}`);
  const [head, body] = response.body.tee();
  const reader = head.getReader();
  const { value } = await reader.read();
  reader.cancel();
  const compressed = value && value[0] === 0x1f && value[1] === 0x8b;
  const stream = compressed ? body.pipeThrough(new DecompressionStream("gzip")) : body;
  return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}

export class Pipeline {
  #module;
  #sample;
  #worker;
  // A second worker has its scripts, so that a restart needs no server.
  #spare;
  #running;
  #waiting;
  #timer;
  #id = 0;
  #onResult;

  // load fetches the program, runs the sample, and returns the releases of the program. onResult gets ({ result, took }), or { stopped: true }
  // when a run was stopped.
  async load(sample, onResult) {
    this.#onResult = onResult;
    this.#spare = this.#hire();
    const module = fetchModule("playground.wasm.gz");
    this.#sample = await sample;
    this.#module = await module;
    return this.#start();
  }

  // run takes a manifest, a release, and whether the result has the objects. If another one is running, this one waits, and replaces one that waits already.
  run(manifest, release, objects) {
    this.#waiting = { manifest, release, objects };
    this.#next();
  }

  #hire() {
    return new Worker("worker.js", { type: "module" });
  }

  #start() {
    return new Promise((resolve, reject) => {
      const worker = this.#spare;
      this.#worker = undefined;
      worker.onerror = (event) => {
        reject(new Error(event.message || "the worker does not start"));
        this.#stop(worker);
      };
      worker.onmessage = ({ data }) => {
        if (data.releases) {
          this.#worker = worker;
          resolve(data.releases);
          this.#next();
        } else if (data.ended) {
          reject(new Error("the program has ended"));
          this.#stop(worker);
        } else if (data.id === this.#running) {
          clearTimeout(this.#timer);
          this.#running = undefined;
          this.#onResult(data);
          this.#next();
        }
      };
      worker.postMessage({ module: this.#module, sample: this.#sample });
      this.#spare = this.#hire();
    });
  }

  #next() {
    if (!this.#worker || this.#running || !this.#waiting) return;
    this.#running = ++this.#id;
    this.#worker.postMessage({ id: this.#running, ...this.#waiting });
    this.#waiting = undefined;
    const worker = this.#worker;
    this.#timer = setTimeout(() => this.#stop(worker), MAX_RUN);
  }

  // #stop ends a worker that takes too long or has failed, and starts another one.
  #stop(worker) {
    if (worker !== this.#worker) return;
    worker.terminate();
    clearTimeout(this.#timer);
    this.#running = undefined;
    this.#onResult({ stopped: true });
    this.#start().catch(() => {});
  }
}
