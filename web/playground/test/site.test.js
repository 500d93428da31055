// The browser test of the built site: axe finds no violation on the first page and on a guide, in both color schemes, in
// a wide and in a narrow window.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, extname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

import { TYPES } from "./server.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const axe = await readFile(join(root, "web/playground/test/node_modules/axe-core/axe.min.js"), "utf8");
const VERSIONS = JSON.stringify([{ version: "0.1", title: "0.1", aliases: ["latest"] }]);

let browser;
let server;
let origin;

before(async () => {
  // The published site has a folder for each version, and the list of the versions beside them.
  server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const path = pathname.replace(/^\/latest/, ".cache/site").replace(/\/$/, "/index.html");
    const type = TYPES[extname(path)] ?? "application/octet-stream";
    try {
      const body = pathname === "/versions.json" ? VERSIONS : await readFile(join(root, path));
      response.writeHead(200, { "Content-Type": type }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  origin = `http://127.0.0.1:${server.address().port}`;
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"],
  });
});

after(async () => {
  await browser?.close();
  server?.close();
});

for (const path of ["/latest/", "/latest/how-to/vllm/"]) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 360]) {
      test(`axe reports no violations: ${path}, ${colorScheme}, ${width} pixels`, async () => {
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
        await page.goto(origin + path);
        await page.waitForSelector(".md-version__current", { state: "attached" });
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
        const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`));
        assert.deepEqual(found, []);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is too wide");
        await page.close();
      });
    }
  }
}
