// The editor is a textarea with line numbers, and with marks on the lines that have findings.

// The maximum number of numbered lines.
const MAX_LINES = 20000;

export class Editor {
  #area;
  #gutter;
  #numbers = document.createElement("div");
  #marks = document.createElement("div");
  #lines = 0;

  constructor(area, gutter, onInput) {
    this.#area = area;
    this.#gutter = gutter;
    this.#numbers.className = "numbers";
    this.#marks.className = "marks";
    gutter.append(this.#marks, this.#numbers);
    area.addEventListener("input", () => {
      this.#number();
      onInput();
    });
    area.addEventListener("scroll", () => this.#scrolled());
  }

  get text() {
    return this.#area.value;
  }

  set text(text) {
    this.#area.value = text;
    this.#area.setSelectionRange(0, 0);
    this.#area.scrollTop = 0;
    this.#number();
  }

  // mark shows the lines of findings: [{ line, level }].
  mark(findings) {
    const levels = new Map();
    for (const { line, level } of findings) {
      if (line > 0 && (level === "error" || !levels.has(line))) levels.set(line, level);
    }
    const marks = [];
    for (const [line, level] of levels) {
      const mark = document.createElement("div");
      mark.className = `mark ${level}`;
      mark.style.top = `calc(${line - 1} * var(--line))`;
      marks.push(mark);
    }
    this.#marks.replaceChildren(...marks);
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
    const height = parseFloat(getComputedStyle(area).lineHeight);
    area.scrollTop = Math.max(0, (line - 1) * height - area.clientHeight / 3);
    area.scrollLeft = 0;
    area.scrollIntoView({ block: "nearest" });
  }

  #number() {
    let lines = 1;
    for (let at = this.#area.value.indexOf("\n"); at >= 0 && lines < MAX_LINES; at = this.#area.value.indexOf("\n", at + 1)) {
      lines++;
    }
    if (lines === this.#lines) return;
    this.#lines = lines;
    this.#numbers.textContent = Array.from({ length: lines }, (_, i) => i + 1).join("\n");
    this.#scrolled();
  }

  #scrolled() {
    this.#gutter.style.setProperty("--scrolled", `${-this.#area.scrollTop}px`);
  }
}
