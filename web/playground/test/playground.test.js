// The browser test of the playground: headless Chromium shows the built page, and the command line is the reference.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { chromium } from "playwright-core";

import { serve } from "./server.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const folder = process.env.PLAYGROUND ?? join(root, ".cache/site/playground");
const cli = process.env.CLI ?? join(root, "bin/kubectl-llamastack");
const pictures = join(root, ".cache/test/playground");
const samples = join(root, "config/samples");
const axe = await readFile(join(root, "web/playground/test/node_modules/axe-core/axe.min.js"), "utf8");

const VALID = `apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: demo
spec:
  distribution:
    name: starter
`;
const MISTAKE = `${VALID}  replicas: many\n`;

let context;
let profile;
let server;
let origin;
let page;
// Requests to other hosts and messages of the browser, which no test may cause.
let foreign;
let messages;

before(async () => {
  await mkdir(pictures, { recursive: true });
  ({ server, origin } = await serve(folder));
  profile = await mkdtemp(join(tmpdir(), "playground-"));
  context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    viewport: { width: 1280, height: 800 },
    permissions: ["clipboard-read", "clipboard-write"],
    // The page's content security policy stays active. It does not apply to page.evaluate, which adds axe to the page.
    bypassCSP: false,
  });
});

after(async () => {
  await context?.close();
  server?.close();
  if (profile) await rm(profile, { recursive: true, force: true });
});

beforeEach(async () => {
  foreign = [];
  messages = [];
  page = await context.newPage();
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`)) foreign.push(request.url());
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) messages.push(message.text());
  });
  page.on("pageerror", (error) => messages.push(String(error)));
});

afterEach(async () => {
  await context.setOffline(false);
  await page.close();
  assert.deepEqual(foreign, [], "the page asked another host");
  assert.deepEqual(messages, [], "the browser complained");
});

const runs = () => page.evaluate(() => Number(document.body.dataset.runs ?? 0));

// ran waits until the page shows the result of the newest manifest, after more than the given number of results. One
// page.fill causes several input events, and so may cause two runs.
async function ran(before, timeout = 60000) {
  await page.waitForFunction((number) => {
    const { runs, busy } = document.body.dataset;
    return Number(runs ?? 0) > number && busy === "false";
  }, before, { timeout });
}

async function open(path = "/playground/") {
  await page.goto(origin + path);
  await ran(0, 120000);
}

async function doing(action) {
  const before = await runs();
  await action();
  await ran(before);
}

const write = (text) => doing(() => page.fill("#manifest", text));

// paste sets a long text, which page.fill would write key by key.
const paste = (text) => doing(() => page.$eval("#manifest", (area, value) => {
  area.value = value;
  area.dispatchEvent(new Event("input"));
}, text));
const status = () => page.textContent("#status");
const choose = (id, value) => doing(() => page.selectOption(id, value));
const sample = (name) => doing(() => page.click(`#sample-${name}`));

async function tab(name) {
  await page.click(`#tab-${name}`);
  // The page creates the objects when the tab opens.
  await page.waitForFunction((id) => document.getElementById(id).childElementCount > 0, `panel-${name}`, { timeout: 60000 });
}


async function commandLine(...args) {
  try {
    const { stdout } = await promisify(execFile)(cli, args, { maxBuffer: 1 << 26 });
    return { stdout };
  } catch (error) {
    return { stdout: "", stderr: error.stderr };
  }
}

// shownConfig returns the text of the configurations, and the origins of their lines.
const shownConfig = () => page.$$eval("#panel-config tbody tr", (rows) => ({
  text: rows.map((row) => `${row.cells[0].textContent}\n`).join(""),
  origins: rows.map((row) => row.cells[1].textContent).filter(Boolean),
}));

const shownObjects = () => page.$$eval("#panel-objects pre", (all) => all.map((pre) => `---\n${pre.textContent}`).join(""));

const selected = () => page.$eval("#manifest", (area) => area.value.slice(area.selectionStart, area.selectionEnd));

const repeated = (list) => list.filter((text, i) => i === 0 || text !== list[i - 1]);

test("every sample shows the output of the command line, on its default release and on others", async () => {
  await open();
  for (const file of await readdir(samples)) {
    await sample(file.replace("v1alpha2-", "").replace(".yaml", ""));
    for (const release of ["", "1.0", "0.7"]) {
      if ((await page.inputValue("#release")) !== release) await choose("#release", release);
      const args = ["render", "-f", join(samples, file), ...(release ? ["--release", release] : [])];
      const config = await commandLine(...args, "-o", "config");
      if (config.stderr) {
        const problems = config.stderr.split("\n").filter((line) => line.startsWith("error: ")).length;
        await tab("findings");
        assert.equal(await page.locator(".finding.error").count(), problems, `${file} ${release}: errors`);
        continue;
      }
      await tab("config");
      const shown = await shownConfig();
      assert.equal(shown.text, config.stdout, `${file} ${release}: configuration`);
      const explained = JSON.parse((await commandLine(...args, "--explain", "-o", "json")).stdout);
      assert.deepEqual(repeated(shown.origins), repeated(explained.map((value) => value.origin)), `${file} ${release}: origins`);
      await tab("objects");
      assert.equal(await shownObjects(), (await commandLine(...args, "-o", "all")).stdout, `${file} ${release}: objects`);
    }
    await choose("#release", "");
  }
});

test("a mistake shows its field path and its line, and a click selects the line", async () => {
  await open();
  await write(MISTAKE);
  assert.match(await status(), /^Not valid, 1 error\. Line 8: unknown field/);
  await tab("findings");
  const place = page.locator(".finding.error .place");
  assert.equal(await place.textContent(), "spec.replicas, line 8");
  await place.click();
  assert.equal(await selected(), "  replicas: many");
  assert.equal(await page.evaluate(() => document.activeElement.id), "manifest");
  assert.equal(await page.locator(".mark.error").count(), 1);
  await page.screenshot({ path: join(pictures, "mistake.png") });
  await tab("config");
  assert.match(await page.textContent("#panel-config"), /The stack has errors/);
});

test("the origin of a value selects the line of its field", async () => {
  await open();
  await page.locator("#panel-config .origin button", { hasText: "spec.providers.inference.endpoint" }).first().click();
  assert.match(await selected(), /^ +endpoint: /);
});

test("the release switch changes the result, and shows the differences", async () => {
  await open();
  const before = await shownConfig();
  assert.match(await status(), /runs release 0\.7/);
  await choose("#release", "1.5");
  assert.match(await status(), /runs release 1\.5/);
  assert.match(await page.textContent("#panel-changes"), /if the sample Simple runs.*changes, and the pods restart/s);
  await tab("config");
  assert.notEqual((await shownConfig()).text, before.text);
  assert.match(await page.textContent("#panel-config .facts"), /release 1\.5 · .*:1\.5\.0/);
});

test("the changes are those since the sample, or since the version that the user keeps", async () => {
  await open();
  const text = await page.inputValue("#manifest");
  await write(text.replace("name: starter", "name: starter\n  workload: {replicas: 0}"));
  await tab("changes");
  assert.match(await page.textContent("#panel-changes pre"), /: changes, and the pods/);
  await page.click("#copy-result");
  await page.waitForFunction(() => document.getElementById("status").textContent === "Changes is copied.");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await page.textContent("#panel-changes pre"));
  await doing(() => page.click("#panel-changes button"));
  assert.match(await page.textContent("#panel-changes pre"), /: no difference/);
  await write(text);
  assert.match(await page.textContent("#panel-changes"), /if the version that you kept runs.*: changes, and the pods/s);
});

test("the layer with the colors has the visible text, and the message of a finding at the end of its line", async () => {
  await open();
  await write(MISTAKE);
  await page.waitForSelector("#colors .message.error");
  const shown = await page.textContent("#colors");
  assert.equal(shown.replace(/ {4}error: .*/, ""), `${MISTAKE}\n`);
  assert.match(shown, /^ {2}replicas: many {4}error: unknown field/m);
  await paste(`${"# line\n".repeat(5000)}${VALID}`);
  await page.$eval("#manifest", (area) => { area.scrollTop = area.scrollHeight; });
  await page.waitForFunction(() => document.getElementById("colors").textContent.includes("kind:"));
  assert.ok((await page.textContent("#colors")).split("\n").length < 200, "all lines are drawn");
});

test("a link contains the manifest and the release", async () => {
  await open();
  const text = `${VALID}  # ünïcode ☃ "quotes" <b>not HTML</b>\n`;
  await write(text);
  await choose("#release", "1.0");
  await page.click("#share");
  await page.waitForSelector("#link:not([hidden])");
  const link = await page.inputValue("#url");
  assert.match(link, /^http[^#]*#m=[\w-]+&r=1\.0$/);
  assert.equal(page.url(), link);
  await page.click("#copy");
  await page.waitForFunction(() => document.getElementById("status").textContent === "The link is copied.");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), link);
  await page.goto("about:blank");
  foreign = foreign.filter((url) => url !== "about:blank");
  await page.goto(link);
  await ran(0, 90000);
  assert.equal(await page.inputValue("#manifest"), text);
  assert.equal(await page.inputValue("#release"), "1.0");
  assert.match(await status(), /demo runs release 1\.0/);
});

test("an invalid or malicious link only causes a message", async () => {
  const { deflateRawSync } = await import("node:zlib");
  const packed = (bytes) => deflateRawSync(bytes).toString("base64url");
  await open();
  const sample = await page.inputValue("#manifest");
  for (const fragment of [
    "#m=", "#m=AAAA", "#m=%3Cscript%3E", "#m=!!!", `#m=${packed(Buffer.from([0xff, 0xfe]))}`,
    `#m=${packed(VALID)}&r=<b>`, `#m=${packed(Buffer.alloc(64 << 20))}`, `#m=${"A".repeat(100000)}`,
  ]) {
    await page.evaluate((hash) => {
      document.getElementById("status").textContent = "";
      location.hash = hash;
    }, fragment);
    await page.waitForFunction(() => document.getElementById("status").textContent !== "", null, { timeout: 10000 });
    assert.equal(await status(), "The manifest in the link cannot be read.", fragment.slice(0, 40));
    assert.equal(await page.inputValue("#manifest"), sample);
  }
  const hostile = `${VALID.replace("demo", '"<img src=x onerror=alert(1)>"')}  <script>: </script>\n`;
  await doing(() => page.evaluate((hash) => { location.hash = hash; }, `#m=${packed(hostile)}`));
  assert.equal(await page.inputValue("#manifest"), hostile);
  await tab("findings");
  assert.match(await page.textContent("#panel-findings"), /<script>/);
  assert.equal(await page.locator("main img, main script, main b").count(), 0);
});

test("a link that cannot be read leaves the first sample in a new page", async () => {
  await open("/playground/#m=AAAA");
  assert.match(await page.inputValue("#manifest"), /name: simple/);
});

test("the page can be used with only the keyboard", async () => {
  await open();
  const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  await press("Tab");
  assert.equal(await focused(), "Skip to the manifest");
  await press("Tab", "Tab");
  assert.equal(await focused(), "sample-simple");
  await press("Tab", "Tab", "Tab");
  assert.equal(await focused(), "sample-postgres");
  await doing(() => press("Enter"));
  assert.match(await page.inputValue("#manifest"), /pg-creds/);
  await press("Tab");
  assert.equal(await focused(), "release");
  await doing(() => press("ArrowDown"));
  assert.notEqual(await page.inputValue("#release"), "");
  await press("Tab");
  assert.equal(await focused(), "share");
  await press("Tab");
  assert.equal(await focused(), "manifest");
  await doing(() => press("Control+End", "x"));
  await press("Tab");
  assert.equal(await focused(), "tab-changes"); // the release switch opened it
  await press("ArrowLeft");
  assert.equal(await focused(), "tab-objects");
  await press("End");
  assert.equal(await focused(), "tab-findings");
  await press("Tab", "Tab");
  assert.equal(await focused(), "panel-findings");
  await press("Tab", "Enter");
  assert.equal(await focused(), "manifest");
  assert.notEqual(await selected(), "");
  await doing(() => page.keyboard.insertText(VALID));
  await press("Shift+Tab");
  assert.equal(await focused(), "share");
  await press("Enter");
  await page.waitForSelector("#link:not([hidden])");
  assert.equal(await focused(), "url");
  await press("Tab", "Enter");
  await page.waitForFunction(() => document.getElementById("status").textContent === "The link is copied.");
});

test("objects open and stay open while the manifest changes", async () => {
  await open();
  await tab("objects");
  await page.locator("summary", { hasText: "Deployment" }).click();
  await doing(() => page.type("#manifest", "\n"));
  assert.equal(await page.locator("details[open] summary").textContent(), "Deployment simple");
  await page.screenshot({ path: join(pictures, "objects.png") });
});

test("the page works without a network after it has loaded", async () => {
  await open("/slow/");
  await context.setOffline(true);
  await write(MISTAKE);
  assert.match(await status(), /^Not valid, 1 error/);
  for (const name of ["multi-provider", "simple"]) {
    await sample(name);
    assert.match(await status(), new RegExp(`${name} runs release`));
  }
  // A run that never ends is stopped, and the next run succeeds.
  await paste("# never ends\n");
  await tab("findings");
  assert.match(await page.textContent("#panel-findings"), /The run took too long or failed, and the page stopped it/);
  await write(VALID);
  assert.match(await status(), /demo runs release/);
  // The worker for this run needs the network.
  await paste("# never ends again\n");
  await doing(() => page.keyboard.press("x"));
  assert.match(await page.textContent("#panel-findings"), /cannot load the playground again. Check the network/);
  await context.setOffline(false);
  await write(VALID);
  assert.match(await status(), /demo runs release/);
  messages = messages.filter((text) => !text.includes("ERR_INTERNET_DISCONNECTED"));
});

test("the result of an earlier manifest never replaces the message about a manifest that is too large", async () => {
  await open();
  const before = await runs();
  await page.$eval("#manifest", (area, texts) => {
    for (const text of texts) {
      area.value = text;
      area.dispatchEvent(new Event("input"));
    }
  }, [VALID, `${VALID}#`, `${VALID}#${"x".repeat(1 << 20)}`]);
  assert.equal(await runs(), before + 1);
  assert.match(await status(), /^Not valid, 1 error/);
  await page.waitForTimeout(500);
  assert.match(await status(), /^Not valid, 1 error/);
  await paste(VALID);
  assert.match(await status(), /demo runs release/);
});

test("a worker that does not respond never blocks the page", async () => {
  await open("/slow/");
  await page.fill("#manifest", "# never ends\n");
  await page.waitForTimeout(200);
  const started = Date.now();
  await page.focus("#manifest");
  await page.keyboard.type("abc");
  assert.equal(await page.inputValue("#manifest"), "# never ends\nabc");
  assert.ok(Date.now() - started < 2000, `typing took ${Date.now() - started} ms`);
  await ran(1); // the runs of both texts are stopped
  await page.fill("#manifest", "# never ends again\n");
  await ran(2);
  await page.fill("#manifest", VALID);
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("demo runs"), null, { timeout: 30000 });
});

test("a manifest that is too large is not run", async () => {
  await open();
  await paste(`${VALID}#${"x".repeat(1 << 20)}`);
  await tab("findings");
  assert.match(await page.textContent("#panel-findings"), /larger than 1024 KiB/);
  await paste(`${VALID}${"# a comment that fills the line and the manifest\n".repeat(20000)}`);
  assert.match(await status(), /demo runs release/);
  await page.click("#share");
  await page.waitForSelector("#link:not([hidden])");
  await paste(`${VALID}${Array.from({ length: 30000 }, (_, i) => `# ${Math.sin(i)}\n`).join("")}`);
  await page.click("#share");
  await page.waitForFunction(() => document.getElementById("status").textContent === "The manifest is too long for a link.");
});

test("the page shows the progress of the download until the program has loaded", async () => {
  await page.addInitScript(() => {
    globalThis.shares = [];
    const { set } = Object.getOwnPropertyDescriptor(HTMLProgressElement.prototype, "value");
    Object.defineProperty(HTMLProgressElement.prototype, "value", {
      set(share) {
        globalThis.shares.push(share);
        set.call(this, share);
      },
    });
  });
  await open();
  const shares = await page.evaluate(() => globalThis.shares);
  assert.ok(shares.length > 1 && shares.every((share, i) => i === 0 || share > shares[i - 1]), `the shares are ${shares}`);
  assert.equal(shares.at(-1), 1);
  assert.ok(await page.isHidden("#progress"));
});

test("the page works with a server that sends the program with a Content-Encoding", async () => {
  await open("/encoded/");
  assert.match(await status(), /simple runs release/);
});

for (const scheme of ["light", "dark"]) {
  for (const [size, viewport] of [["wide", { width: 1280, height: 800 }], ["narrow", { width: 360, height: 740 }]]) {
    test(`axe reports no violations: ${scheme}, ${size}`, async () => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize(viewport);
      await open();
      const check = async (name) => {
        await page.evaluate(axe);
        const { violations, passes } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
        const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`));
        assert.deepEqual(found, [], `${name}: violations`);
        assert.ok(passes.length > 10, `${name}: axe checked only ${passes.length} rules`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than the window`);
        await page.screenshot({ path: join(pictures, `${name}-${scheme}-${size}.png`), fullPage: size === "narrow" });
      };
      await sample("full");
      await page.locator("#panel-config .yours").first().evaluate((row) => row.scrollIntoView({ block: "start" }));
      await check("config");
      await page.click("#share");
      await page.waitForSelector("#link:not([hidden])");
      await tab("objects");
      await page.locator("summary").first().click();
      await check("objects");
      await write(`${MISTAKE}  unknwon: 1\n---\n${VALID.replace("demo", "second")}  network: {}\n`);
      await tab("findings");
      await check("findings");
    });
  }
}

test("a keystroke takes at most 100 ms", async () => {
  const { gzipSize, wasm } = await sizes();
  console.log(`the size of the program is ${(gzipSize / 1e6).toFixed(1)} MB with gzip, ${(wasm / 1e6).toFixed(1)} MB without`);
  assert.ok(gzipSize <= 10e6, `the program has ${gzipSize} bytes`);
  const started = Date.now();
  await open();
  console.log(`the first result is shown after ${Date.now() - started} ms`);
  const limit = Number(process.env.KEYSTROKE_LIMIT ?? 100);
  const slow = [];
  for (const file of await readdir(samples)) {
    const name = file.replace("v1alpha2-", "").replace(".yaml", "");
    await sample(name);
    for (const panel of ["config", "objects"]) {
      await tab(panel);
      await page.focus("#manifest");
      await page.keyboard.press("Control+Home");
      // The best of some rounds, because other programs may use the machine at the same time.
      let best;
      for (let round = 0; round < 3 || (round < 10 && best.delay > limit); round++) {
        const took = [];
        const delay = [];
        for (const key of "# comment") {
          await doing(() => page.keyboard.press(key));
          const data = await page.evaluate(() => ({ ...document.body.dataset }));
          took.push(Number(data.took));
          delay.push(Number(data.delay));
        }
        await doing(() => page.keyboard.press("Enter"));
        const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
        const now = { took: median(took), delay: median(delay), worst: Math.max(...delay) };
        if (!best || now.delay < best.delay) best = now;
      }
      console.log(`${name}, ${panel}: ${best.delay.toFixed(0)} ms from the key to the result (median; ` +
        `${best.worst.toFixed(0)} ms at most), ${best.took.toFixed(0)} ms of this in the pipeline`);
      if (best.delay > limit) slow.push(`${name}, ${panel}: ${best.delay} ms`);
    }
  }
  assert.deepEqual(slow, []);
});

async function sizes() {
  const { gunzipSync } = await import("node:zlib");
  const data = await readFile(join(folder, "playground.wasm.gz"));
  return { gzipSize: data.length, wasm: gunzipSync(data).length };
}
