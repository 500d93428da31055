// The editor is a textarea with line numbers. A layer below its transparent text has the colors of the visible lines, and
// at the end of each line the message of its finding.
import { code, element } from "./highlight.js";

// The maximum number of numbered lines.
const MAX_LINES = 20000;

// A visible line with more characters turns the colors off, because the browser would need too long to draw it twice.
const MAX_LINE = 5000;

export class Editor {
  #area;
  #gutter;
  #colors;
  #numbers = element("div", "numbers");
  #marks = element("div", "marks");
  #text = [""];
  #lines = 0;
  // The most severe finding of each line.
  #findings = new Map();
  #drawing = 0;

  constructor(area, gutter, colors, onInput) {
    this.#area = area;
    this.#gutter = gutter;
    this.#colors = colors;
    gutter.append(this.#marks, this.#numbers);
    area.addEventListener("input", () => {
      this.#changed();
      onInput();
    });
    area.addEventListener("scroll", () => this.#scrolled());
    new ResizeObserver(() => this.#draw()).observe(area);
  }

  get text() {
    return this.#area.value;
  }

  set text(text) {
    this.#area.value = text;
    this.#area.setSelectionRange(0, 0);
    this.#area.scrollTop = 0;
    this.#findings.clear();
    this.#changed();
  }

  // mark shows the lines of findings: [{ line, level, message }].
  mark(findings) {
    this.#findings.clear();
    for (const finding of findings) {
      const { line, level } = finding;
      if (line > 0 && (level === "error" || !this.#findings.has(line))) this.#findings.set(line, finding);
    }
    const marks = [];
    for (const { line, level } of this.#findings.values()) {
      const mark = element("div", `mark ${level}`);
      mark.style.top = `calc(${line - 1} * var(--line))`;
      marks.push(mark);
    }
    this.#marks.replaceChildren(...marks);
    this.#draw();
  }

  // select selects a line, scrolls to it, and moves the focus to the editor.
  select(line) {
    const area = this.#area;
    let start = 0;
    for (let i = 1; i < line; i++) {
      const end = area.value.indexOf("\n", start);
      if (end < 0) break;
      start = end + 1;
    }
    const end = area.value.indexOf("\n", start);
    area.focus({ preventScroll: true });
    area.setSelectionRange(start, end < 0 ? area.value.length : end);
    area.scrollTop = Math.max(0, (line - 1) * this.#height - area.clientHeight / 3);
    area.scrollLeft = 0;
    area.scrollIntoView({ block: "nearest" });
  }

  get #height() {
    return parseFloat(getComputedStyle(this.#area).lineHeight);
  }

  #changed() {
    this.#text = this.#area.value.split("\n");
    const lines = Math.min(this.#text.length, MAX_LINES);
    if (lines !== this.#lines) {
      this.#lines = lines;
      this.#numbers.textContent = Array.from({ length: lines }, (_, i) => i + 1).join("\n");
    }
    this.#scrolled();
  }

  #scrolled() {
    this.#gutter.style.setProperty("--scrolled", `${-this.#area.scrollTop}px`);
    this.#draw();
  }

  // #draw shows the colors before the browser shows the next picture.
  #draw() {
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0;
      this.#drawn();
    });
  }

  #drawn() {
    const { scrollTop, scrollLeft, clientHeight } = this.#area;
    const height = this.#height;
    const first = Math.floor(scrollTop / height);
    const visible = this.#text.slice(first, first + Math.ceil(clientHeight / height) + 1);
    const plain = visible.some((line) => line.length > MAX_LINE);
    this.#area.classList.toggle("plain", plain);
    this.#colors.style.transform = `translate(${-scrollLeft}px, ${first * height - scrollTop}px)`;
    this.#colors.replaceChildren(...(plain ? [] : visible.flatMap((line, i) => {
      const finding = this.#findings.get(first + i + 1);
      const message = finding && element("span", `message ${finding.level}`, `    ${finding.level}: ${finding.message}`);
      return [...code(line), message, "\n"].filter(Boolean);
    })));
  }
}
