import { Editor } from "./editor.js";
import { decode, encode } from "./link.js";
import { Pipeline } from "./pipeline.js";
import { View } from "./view.js";

// MAX_MANIFEST is the maximum size of a manifest in bytes.
const MAX_MANIFEST = 1 << 20;

const $ = (id) => document.getElementById(id);
const status = $("status");
const sample = $("sample");
const release = $("release");
const names = ["config", "objects", "findings"];
const tabs = Object.fromEntries(names.map((name) => [name, $(`tab-${name}`)]));
const panels = Object.fromEntries(names.map((name) => [name, $(`panel-${name}`)]));

let samples = [];
let result;
let shown = "config";
// withObjects is true if the newest run requests the objects, which only one tab shows.
let withObjects = false;

const pipeline = new Pipeline();
const editor = new Editor($("manifest"), $("gutter"), () => {
  sample.value = "";
  run();
});
const view = new View(panels, { select: (line) => editor.select(line), showFindings: () => show("findings", true) });

function show(name, focus) {
  shown = name;
  for (const other of names) {
    tabs[other].setAttribute("aria-selected", String(other === name));
    tabs[other].tabIndex = other === name ? 0 : -1;
    panels[other].hidden = other !== name;
  }
  if (focus) tabs[name].focus();
  if (name === "objects" && !withObjects) {
    panels.objects.replaceChildren();
    run();
  } else if (result) {
    view[name](result);
  }
}

function count(number, word) {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

function summary({ stacks, findings }) {
  const number = (level) => findings.filter((one) => one.level === level).length;
  const parts = [["error", number("error")], ["warning", number("warning")], ["note", number("note")]]
    .filter(([, amount]) => amount > 0)
    .map(([word, amount]) => count(amount, word));
  const valid = stacks.filter((stack) => stack.valid);
  const state = number("error") > 0 ? "Not valid" : "Valid";
  const what = valid.map(({ name, release: line }) => `${name} runs ${line ? `release ${line}` : "the release of its image"}`);
  return `${[state, ...parts].join(", ")}.${what.length > 0 ? ` ${what.join("; ")}.` : ""}`;
}

function say(text, level) {
  if (status.textContent !== text) status.textContent = text;
  status.dataset.level = level;
}

// showResult shows the result of a run. The browser test reads the data of the body: the number of results, whether a
// newer manifest still waits, the time of the run, and the delay from the first change to its result.
function showResult({ result: next, took, problem, since, busy = false }) {
  result = next ?? { stacks: [], findings: [{ level: "error", message: problem }] };
  const errors = result.findings.filter((one) => one.level === "error").length;
  const warnings = result.findings.filter((one) => one.level === "warning").length;
  tabs.findings.replaceChildren("Findings");
  if (result.findings.length > 0) {
    const badge = document.createElement("span");
    badge.className = `badge ${errors ? "error" : warnings ? "warning" : "note"}`;
    badge.textContent = String(result.findings.length);
    tabs.findings.append(" ", badge);
  }
  editor.mark(result.findings);
  if (shown !== "objects" || withObjects) view[shown](result);
  say(summary(result), errors ? "error" : warnings ? "warning" : "ok");
  const ended = performance.now();
  const { dataset } = document.body;
  dataset.runs = String(Number(dataset.runs ?? 0) + 1);
  dataset.busy = String(busy);
  dataset.took = String(took ?? "");
  dataset.delay = String(ended - (since ?? ended));
}

function run() {
  $("link").hidden = true;
  if (editor.text.length > MAX_MANIFEST) {
    const problem = `the manifest is larger than ${MAX_MANIFEST >> 10} KiB, the limit of the playground; remove part of the manifest, or use kubectl llamastack render`;
    pipeline.drop();
    showResult({ problem });
    return;
  }
  withObjects = shown === "objects";
  document.body.dataset.busy = "true";
  pipeline.run(editor.text, release.value, withObjects);
}

// open shows the manifest in the link. It returns true, or false for a link without a manifest, or undefined if the
// manifest cannot be read.
async function open() {
  try {
    const found = await decode(location.hash, MAX_MANIFEST);
    if (!found) return false;
    editor.text = found.manifest;
    sample.value = "";
    release.value = [...release.options].some((option) => option.value === found.release) ? found.release : "";
    return true;
  } catch {
    say("The manifest in the link cannot be read.", "error");
    return undefined;
  }
}

async function share() {
  const fragment = await encode(editor.text, release.value, MAX_MANIFEST).catch(() => undefined);
  if (!fragment) {
    say("The manifest is too long for a link.", "error");
    return;
  }
  history.replaceState(null, "", fragment);
  $("url").value = location.href;
  $("link").hidden = false;
  $("url").focus();
  $("url").select();
}

async function copy() {
  $("url").select();
  try {
    await navigator.clipboard.writeText($("url").value);
    say("The link is copied.", "ok");
  } catch {
    say("The browser does not allow the page to copy the link. Copy the selected link manually.", "warning");
  }
}

function choose() {
  const chosen = samples.find(({ name }) => name === sample.value);
  if (!chosen) return;
  editor.text = chosen.text;
  run();
}

for (const [index, name] of names.entries()) {
  tabs[name].addEventListener("click", () => show(name));
  tabs[name].addEventListener("keydown", (event) => {
    const to = { ArrowRight: index + 1, ArrowLeft: index + names.length - 1, Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(names[to % names.length], true);
  });
}
sample.addEventListener("change", choose);
release.addEventListener("change", run);
$("share").addEventListener("click", share);
$("copy").addEventListener("click", copy);
window.addEventListener("hashchange", async () => {
  if (await open()) run();
});

async function start() {
  const fetched = fetch("samples.json").then((response) => response.json());
  const loading = pipeline.load(fetched.then((list) => list[0].text), showResult);
  samples = await fetched;
  sample.append(new Option("your own", ""), ...samples.map(({ name, title }) => new Option(title, name)));
  const linked = await open();
  if (!linked) {
    sample.value = samples[0].name;
    editor.text = samples[0].text;
  }
  const known = await loading;
  release.append(...known.lines.toReversed().map((line) => new Option(line === known.default ? `${line} (default)` : line, line)));
  if (linked) await open();
  if (linked === undefined) document.body.dataset.link = "unreadable";
  run();
}

start().catch((error) => say(`The playground cannot start: ${error.message}`, "error"));
