import { Editor } from "./editor.js";
import { element } from "./highlight.js";
import { decode, encode } from "./link.js";
import { Pipeline } from "./pipeline.js";
import { View } from "./view.js";

// MAX_MANIFEST is the maximum size of a manifest in bytes.
const MAX_MANIFEST = 1 << 20;

const $ = (id) => document.getElementById(id);
const status = $("status");
const release = $("release");
const progress = $("progress");
const names = ["config", "objects", "changes", "findings"];
const tabs = Object.fromEntries(names.map((name) => [name, $(`tab-${name}`)]));
const panels = Object.fromEntries(names.map((name) => [name, $(`panel-${name}`)]));

let result;
let shown = "config";
// ran is the tab for which the newest run was made. Only the tab of the objects and the tab of the changes need a run of
// their own, which takes longer.
let ran = "config";
const needsRun = (name) => ["objects", "changes"].includes(name) && ran !== name;
// earlier is the version with which the tab of the changes compares the manifest, and its name.
let earlier = { manifest: "", release: "", name: "" };

const pipeline = new Pipeline();
const editor = new Editor($("manifest"), $("gutter"), $("colors"), run);
const view = new View(panels, {
  select: (line) => editor.select(line),
  showFindings: () => show("findings", true),
  keep: () => {
    keep("the version that you kept");
    tabs.changes.focus();
    run();
  },
});

// keep makes the current version the earlier one.
function keep(name) {
  earlier = { manifest: editor.text, release: release.value, name };
}

function show(name, focus) {
  shown = name;
  for (const other of names) {
    tabs[other].setAttribute("aria-selected", String(other === name));
    tabs[other].tabIndex = other === name ? 0 : -1;
    panels[other].hidden = other !== name;
  }
  if (focus) tabs[name].focus();
  if (needsRun(name)) {
    panels[name].replaceChildren();
    run();
  } else if (result) {
    view[name](result, earlier.name);
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
  const first = findings.find((one) => one.level === "error" && one.line > 0);
  return `${[state, ...parts].join(", ")}.${what.length > 0 ? ` ${what.join("; ")}.` : ""}` +
    (first ? ` Line ${first.line}: ${first.message}` : "");
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
  if (!needsRun(shown)) view[shown](result, earlier.name);
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
  ran = shown;
  document.body.dataset.busy = "true";
  const { manifest, release: before } = earlier;
  pipeline.run(editor.text, release.value, shown === "objects", shown === "changes" ? { manifest, release: before } : undefined);
}

// open shows the manifest in the link. It returns true, or false for a link without a manifest, or undefined if the
// manifest cannot be read.
async function open() {
  try {
    const found = await decode(location.hash, MAX_MANIFEST);
    if (!found) return false;
    editor.text = found.manifest;
    release.value = [...release.options].some((option) => option.value === found.release) ? found.release : "";
    keep("the version in the link");
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

// copy copies a text, and says so.
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} is copied.`, "ok");
  } catch {
    say("The browser does not allow the page to copy. Select the text, and copy it manually.", "warning");
  }
}

function choose({ title, text }) {
  editor.text = text;
  keep(`the sample ${title}`);
  run();
}

// gallery returns a button for each sample.
function gallery(samples) {
  return samples.map((sample) => {
    const button = element("button", "sample", element("span", "title", sample.title), element("span", "about", sample.about));
    button.type = "button";
    button.id = `sample-${sample.name}`;
    button.addEventListener("click", () => choose(sample));
    return button;
  });
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
release.addEventListener("change", () => {
  const again = !needsRun("changes");
  show("changes");
  if (again) run();
});
$("share").addEventListener("click", share);
$("copy").addEventListener("click", () => {
  $("url").select();
  copy($("url").value, "The link");
});
$("copy-result").addEventListener("click", () => result && copy(view.text(shown, result), tabs[shown].firstChild.textContent));
window.addEventListener("hashchange", async () => {
  if (await open()) run();
});

async function start() {
  const fetched = fetch("samples.json").then((response) => response.json());
  const loading = pipeline.load(fetched.then((list) => list[0].text), showResult, (share) => { progress.value = share; });
  const samples = await fetched;
  $("samples").append(...gallery(samples));
  const linked = await open();
  if (!linked) {
    editor.text = samples[0].text;
    keep(`the sample ${samples[0].title}`);
  }
  const known = await loading;
  progress.hidden = true;
  release.append(...known.lines.toReversed().map((line) => new Option(line === known.default ? `${line} (default)` : line, line)));
  if (linked) await open();
  if (linked === undefined) document.body.dataset.link = "unreadable";
  run();
}

start().catch((error) => say(`The playground cannot start: ${error.message}`, "error"));
