// Runs manifests in a worker, one at a time. If a run takes too long, its worker is stopped.

// The maximum duration of a run in milliseconds.
const MAX_RUN = 5000;

// fetchModule returns the compiled program. The file is compressed, unless the HTTP server sends it with a
// Content-Encoding, which the browser decodes. onProgress is called with the loaded share of the file, if its size is
// known.
async function fetchModule(url, onProgress) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the server responds with status ${response.status}`);
  const encoded = response.headers.get("Content-Encoding");
  const size = encoded ? 0 : Number(response.headers.get("Content-Length"));
  let loaded = 0;
  let compressed;
  const counted = response.body.pipeThrough(new TransformStream({
    transform(chunk, controller) {
      compressed ??= chunk[0] === 0x1f && chunk[1] === 0x8b;
      loaded += chunk.length;
      if (size) onProgress(loaded / size);
      controller.enqueue(chunk);
    },
  }));
  const [head, body] = counted.tee();
  const reader = head.getReader();
  await reader.read();
  reader.cancel();
  const stream = compressed ? body.pipeThrough(new DecompressionStream("gzip")) : body;
  return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}

export class Pipeline {
  #module;
  #sample;
  #worker;
  // A second worker that has loaded its scripts, so that a restart needs no request to the server. It is undefined if the
  // scripts cannot be loaded.
  #spare;
  #running;
  #waiting;
  // Whether the last worker failed to start. If it failed, the next run starts another one.
  #failed = false;
  #timer;
  #id = 0;
  #onResult;

  // load fetches the program, runs the sample, and returns the releases that the program knows. After each run,
  // onResult is called with { result, took, since, busy }, or with { problem, since, busy } if there is no result. since
  // is the time of the first change that the result contains. busy is true if a newer manifest waits.
  async load(sample, onResult, onProgress) {
    this.#onResult = onResult;
    this.#spare = this.#hire();
    const module = fetchModule("playground.wasm.gz", onProgress);
    this.#sample = await sample;
    this.#module = await module;
    return this.#start();
  }

  // run plans a manifest for a release. objects adds the objects to the result, and earlier = { manifest, release } the
  // effects of the edit since an earlier version. During another run, the manifest waits, and replaces a manifest that
  // already waits.
  run(manifest, release, objects, earlier) {
    this.#waiting = { since: this.#waiting?.since ?? performance.now(), manifest, release, objects, earlier };
    if (this.#failed) this.#restart();
    this.#next();
  }

  // drop discards the manifest that waits and the result of the current run.
  drop() {
    this.#waiting = undefined;
    if (this.#running) this.#running.dropped = true;
  }

  #hire() {
    const worker = new Worker("worker.js", { type: "module" });
    worker.onerror = () => {
      if (worker === this.#spare) this.#spare = undefined;
    };
    return worker;
  }

  #start() {
    return new Promise((resolve, reject) => {
      const worker = this.#spare ?? this.#hire();
      this.#worker = undefined;
      worker.onerror = (event) => {
        reject(new Error(event.message || "the worker cannot start"));
        this.#stop(worker);
      };
      worker.onmessage = ({ data }) => {
        if (data.releases) {
          this.#worker = worker;
          resolve(data.releases);
          this.#next();
        } else if (data.ended) {
          reject(new Error("the program ended unexpectedly"));
          this.#stop(worker);
        } else if (data.id === this.#running?.id) {
          this.#end(data);
          this.#next();
        }
      };
      worker.postMessage({ module: this.#module, sample: this.#sample });
      this.#spare = this.#hire();
    });
  }

  #next() {
    if (!this.#worker || this.#running || !this.#waiting) return;
    this.#running = { id: ++this.#id, ...this.#waiting };
    this.#worker.postMessage(this.#running);
    this.#waiting = undefined;
    const worker = this.#worker;
    this.#timer = setTimeout(() => this.#stop(worker), MAX_RUN);
  }

  // #stop ends a worker that takes too long or has failed, and starts another one.
  #stop(worker) {
    if (worker !== this.#worker) return;
    worker.terminate();
    this.#end({ problem: "The run took too long or failed, and the page stopped it. Change the manifest to run it again." });
    this.#restart();
  }

  #restart() {
    this.#failed = false;
    this.#start().catch(() => {
      this.#failed = true;
      this.#running = this.#waiting;
      this.#waiting = undefined;
      this.#end({ problem: "The browser cannot load the playground again. Check the network connection, and then change the manifest." });
    });
  }

  // #end reports the result of the current run, unless the run was dropped.
  #end({ result, took, problem }) {
    clearTimeout(this.#timer);
    const { since, dropped } = this.#running ?? {};
    this.#running = undefined;
    if (!dropped) this.#onResult({ result, took, problem, since, busy: Boolean(this.#waiting) });
  }
}
