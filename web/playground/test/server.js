// A static file server with a strict content security policy. It serves the page in three folders: /playground/ without
// changes, /encoded/ with a Content-Encoding that makes the browser decompress the program, and /slow/ with a worker that
// never ends a run of a manifest that contains the words "never ends".
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; style-src 'self'; " +
  "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".gz": "application/gzip",
};

const HANG = "\nconst before = self.onmessage;\nself.onmessage = (event) => {\n" +
  '  while (event.data.manifest?.includes("never ends")) {}\n  return before(event);\n};\n';

export async function serve(folder) {
  const server = createServer(async (request, response) => {
    const [, variant, rest = ""] = /^\/(playground|encoded|slow)\/([^?]*)/.exec(request.url) ?? [];
    const name = rest || "index.html";
    if (!variant || normalize(name) !== name || name.startsWith("..")) return response.writeHead(404).end();
    try {
      let body = await readFile(join(folder, name));
      if (variant === "slow" && name === "worker.js") body = Buffer.concat([body, Buffer.from(HANG)]);
      const headers = {
        "Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Content-Length": body.length,
      };
      if (variant === "encoded" && name.endsWith(".gz")) headers["Content-Encoding"] = "gzip";
      response.writeHead(200, headers).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
}
