// Shows a result. All text from a manifest or a result is set as text, never as HTML.

import { code, element } from "./highlight.js";

function button(className, text, label, onClick) {
  const node = element("button", className, text);
  node.type = "button";
  if (label) node.setAttribute("aria-label", label);
  node.addEventListener("click", onClick);
  return node;
}

// heading returns the name of a stack, with the release and the image of its server.
function heading(stack) {
  const title = element("h3", "stack", stack.name || "(no name)");
  const facts = [stack.release && `release ${stack.release}`, stack.image].filter(Boolean).join(" · ");
  if (facts) title.append(element("span", "facts", facts));
  return title;
}

// invalid returns the text for a stack that has no result.
function invalid(showFindings) {
  return element(
    "p", "empty", "The stack has errors, so the operator does not apply it. ",
    button("inline", "Show the findings", "", showFindings),
  );
}

function configuration(stack, actions) {
  const table = element("table", "config");
  table.append(element("caption", "hidden", `Configuration of ${stack.name}`));
  const head = element("tr", "", element("th", "", "config.yaml"), element("th", "", "Origin"));
  for (const cell of head.children) cell.scope = "col";
  table.append(element("thead", "", head));
  const body = element("tbody");
  let before = "";
  for (const { text, origin, line } of stack.config) {
    const from = element("td", "origin");
    if (line) {
      from.append(button("inline", origin, `${origin}, line ${line} of the manifest`, () => actions.select(line)));
    } else if (origin && origin !== before) {
      from.append(origin);
    }
    before = origin || before;
    body.append(element("tr", line ? "yours" : "", element("td", "code", ...code(text)), from));
  }
  table.append(body);
  return table;
}

function objects(stack, open) {
  return stack.objects.map(({ kind, name, text }) => {
    const id = `${stack.namespace}/${stack.name}/${kind}/${name}`;
    const details = element("details", "", element("summary", "", element("span", "kind", kind), ` ${name}`));
    details.open = open.has(id);
    details.addEventListener("toggle", () => (details.open ? open.add(id) : open.delete(id)));
    const pre = element("pre", "", text);
    pre.tabIndex = 0;
    pre.setAttribute("role", "region");
    pre.setAttribute("aria-label", `${kind} ${name}`);
    details.append(pre);
    return details;
  });
}

function finding(one, many, actions) {
  const item = element("li", `finding ${one.level}`, element("span", "level", one.level));
  if (many && one.stack) item.append(element("span", "of", one.stack));
  const place = [one.path, one.line > 0 && `line ${one.line}`].filter(Boolean).join(", ");
  if (one.line > 0) {
    item.append(button("inline place", place, "", () => actions.select(one.line)));
  } else if (place) {
    item.append(element("span", "place", place));
  }
  item.append(element("p", "message", one.message));
  return item;
}

export class View {
  #panels;
  #open = new Set();
  #actions;

  // actions are { select(line), showFindings(), keep() }.
  constructor(panels, actions) {
    this.#panels = panels;
    this.#actions = actions;
  }

  config({ stacks }) {
    this.#stacks("config", stacks, (stack) => [configuration(stack, this.#actions)]);
  }

  objects({ stacks }) {
    this.#stacks("objects", stacks, (stack) => objects(stack, this.#open));
  }

  // changes shows the effects of the edit since the earlier version, which `since` describes.
  changes({ stacks }, since) {
    this.#stacks("changes", stacks, (stack) => {
      const pre = element("pre", "", stack.changes);
      pre.tabIndex = 0;
      pre.setAttribute("role", "region");
      pre.setAttribute("aria-label", `Changes of ${stack.name}`);
      return [pre];
    });
    this.#panels.changes.prepend(element("p", "empty", `The effects if ${since} runs, and you apply this version. `,
      button("inline", "Compare with this version from now on", "", this.#actions.keep)));
  }

  // text returns the text of a panel, for the clipboard.
  text(panel, { stacks, findings }) {
    switch (panel) {
      case "config":
        return stacks.flatMap(({ config }) => config.map(({ text }) => `${text}\n`)).join("");
      case "objects":
        return stacks.flatMap((stack) => stack.objects.map(({ text }) => `---\n${text}`)).join("");
      case "changes":
        return stacks.map(({ changes }) => changes).join("\n");
      default:
        return findings.map(({ level, path, message }) => `${[level, path, message].filter(Boolean).join(": ")}\n`).join("");
    }
  }

  #stacks(panel, stacks, show) {
    const content = stacks.flatMap((stack) => [
      heading(stack),
      ...(stack.valid ? show(stack) : [invalid(this.#actions.showFindings)]),
    ]);
    if (stacks.length === 0) {
      content.push(element("p", "empty", "The manifest has no stack. ",
        button("inline", "Show the findings", "", this.#actions.showFindings)));
    }
    this.#panels[panel].replaceChildren(...content);
  }

  findings({ stacks, findings }) {
    if (findings.length === 0) {
      this.#panels.findings.replaceChildren(element("p", "empty", "No errors and no warnings."));
      return;
    }
    const order = ["error", "warning", "note"];
    const sorted = order.flatMap((level) => findings.filter((one) => one.level === level));
    const list = element("ul", "findings", ...sorted.map((one) => finding(one, stacks.length > 1, this.#actions)));
    this.#panels.findings.replaceChildren(list);
  }
}
