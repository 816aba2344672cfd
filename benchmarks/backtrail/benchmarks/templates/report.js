"use strict";

const byId = (id) => document.getElementById(id);

/** Make an element; text goes in as text, never as markup. */
function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// -- the table ----------------------------------------------------------------------------------------

function startTable() {
  const body = byId("table").tBodies[0];
  const rows = [...body.rows];
  const heads = [...byId("table").tHead.rows[0].cells];
  const filters = ["by-result", "by-type", "by-text"].map(byId);

  function filter() {
    const [result, type, text] = filters.map((field) => field.value);
    for (const row of rows) {
      row.hidden =
        (result && row.dataset.result !== result) ||
        (type && row.dataset.type !== type) ||
        !row.textContent.toLowerCase().includes(text.toLowerCase());
    }
    byId("shown").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} shown`;
  }

  function sort(column) {
    const down = heads[column].getAttribute("aria-sort") === "ascending";
    heads.forEach((head, at) => head.setAttribute("aria-sort", at !== column ? "none" : down ? "descending" : "ascending"));
    const key = (row) => row.cells[column].textContent.replaceAll(",", "");
    const order = new Intl.Collator("en", { numeric: true });
    const number = (text) => (text.trim() === "" ? NaN : Number(text));
    const compare = (a, b) => number(a) - number(b) || (number(a) === number(b) ? 0 : order.compare(a, b));
    rows.sort((a, b) => (down ? compare(key(b), key(a)) : compare(key(a), key(b))));
    body.append(...rows);
  }

  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => sort(column)));
  filters.forEach((field) => field.addEventListener("input", filter));
  filter();
}

// -- the viewer ---------------------------------------------------------------------------------------

function startViewer(data) {
  const embedded = data.episodes.flatMap((episode, index) => (episode ? [index] : []));
  const rows = [...byId("table").tBodies[0].rows]; // in the order of the plan: this runs before any sorting
  let shown = null; // index of the episode
  let step = 0;

  const describe = (index) => `${index + 1}. ${rows[index].cells[3].textContent}: ${data.episodes[index].goal || rows[index].dataset.episode}`;

  for (const index of embedded) {
    const option = make("option", "", describe(index));
    option.value = index;
    byId("choose").append(option);
  }

  /** States that were visited more than once get a hue each, as far apart as their number allows. */
  function hues(steps) {
    const times = new Map();
    for (const { state } of steps) if (state !== undefined) times.set(state, (times.get(state) ?? 0) + 1);
    const again = [...times].filter(([, count]) => count > 1).map(([state]) => state);
    return new Map(again.map((state, place) => [state, (place * 137.5 + 250) % 360]));
  }

  function colour(element, state, hue) {
    element.dataset.state = state;
    if (!hue.has(state)) return;
    element.classList.add("again");
    element.style.setProperty("--hue", hue.get(state));
  }

  function cell(each, at, hue) {
    const sign = each.success ? "\u2713" : each.rollback ? "\u21a9" : each.error ? "!" : "";
    const button = make("button", "cell", make("i", "", sign), each.state === undefined ? "\u00b7" : String(each.state + 1));
    button.title = at === 0 ? "the start" : `step ${at}: ${each.action}`;
    colour(button, each.state, hue);
    button.addEventListener("click", () => go(shown, at));
    return button;
  }

  function tags(each, episode, hue) {
    const line = make("p", "tags");
    const add = (text, kind = "") => line.append(make("span", `tag ${kind}`, text));
    if (each.state !== undefined) {
      const full = episode.states[each.state];
      const chip = make("button", "tag chip", `state ${each.state + 1} \u00b7 ${full.slice(full.lastIndexOf(":") + 1).slice(0, 8)}`);
      chip.title = `fingerprint ${full}: click to mark all steps in this state`;
      colour(chip, each.state, hue);
      chip.addEventListener("click", () => mark(each.state));
      line.append(chip);
    }
    if (each.visits !== undefined) add(each.visits ? `visit ${each.visits + 1}` : "new state");
    if (each.rollback) {
      const { status, method, steps } = each.rollback;
      add(`rollback ${status}${method ? ` by ${method}` : ""}, ${steps} step${steps === 1 ? "" : "s"}`, status === "exact" ? "good" : "bad");
    }
    if (each.reward) add(`reward ${each.reward}`, each.reward > 0 ? "good" : "bad");
    if (each.malformed) add("response not in the required form", "bad");
    if (each.success) add("success", "good");
    else if (each.end) add(each.end === "truncated" ? "out of steps" : "ended without success", "bad");
    return line;
  }

  function words(title, text) {
    return text ? make("p", "words", make("b", "", `${title} `), text) : null;
  }

  function pane(kind, title, ...content) {
    const details = make("details", kind, make("summary", "", title), ...content);
    details.open = document.querySelector(`[data-show=${kind}]`).checked;
    return details;
  }

  function picture([part, file]) {
    const place = data.images[file];
    if (place === undefined) return make("p", "note", `${part}: ${file} (not in this file)`);
    const image = make("img");
    image.src = data.pictures[place];
    image.alt = `${part} (${file})`;
    image.title = `${file}: click to change the size`;
    image.addEventListener("click", () => image.classList.toggle("big"));
    return image;
  }

  function said(text) {
    const long = text.length > 3000 || text.split("\n").length > 18;
    const aligned = / {3}|\t/.test(text); // columns and indented trees need letters of one width
    return make("pre", `text ${long ? "long" : ""} ${aligned ? "aligned" : ""}`, text);
  }

  function card(each, at, episode, hue) {
    const commands = (each.admissible ?? []).map((index) => make("code", "", data.actions[index]));
    const item = make("li", "step", make("b", "", String(at)), make("div", "",
      words("Exploring:", each.explore),
      words("Memory:", each.memory),
      make("p", "action", at === 0 ? "(start)" : each.action || "(empty action)"),
      each.response ? pane("response", "full response", make("pre", "", each.response)) : null,
      each.error ? make("p", "error", `invalid action: ${each.error}`) : null,
      make("div", "seen", ...(each.images ?? []).map(picture), said(each.text ?? "")),
      tags(each, episode, hue),
      commands.length ? pane("admissible", `${commands.length} admissible actions from here`, make("div", "commands", ...commands)) : null,
    ));
    item.dataset.state = each.state;
    return item;
  }

  function open(index) {
    const episode = data.episodes[index];
    const hue = hues(episode.steps);
    const columns = [...byId("table").tHead.rows[0].cells].slice(2).map((head) => head.textContent.trim().toLowerCase());
    shown = index;
    byId("choose").value = index;
    byId("goal").textContent = episode.goal || "(no goal)";
    byId("facts").textContent = `${rows[index].dataset.episode} \u00b7 ` + columns.map((name, at) => `${name}: ${rows[index].cells[at + 2].textContent}`).join(" \u00b7 ");
    byId("map").replaceChildren(...episode.steps.map((each, at) => cell(each, at, hue)));
    byId("steps").replaceChildren(...episode.steps.map((each, at) => card(each, at, episode, hue)));
    byId("previous").disabled = index === embedded[0];
    byId("next").disabled = index === embedded.at(-1);
    rows.forEach((row, at) => row.classList.toggle("open", at === index));
    mark(null);
  }

  /** Show a step of an episode; the address says which, so that it can be passed on. */
  function go(index, at, scroll = true) {
    if (index !== shown) open(index);
    step = Math.max(0, Math.min(at, data.episodes[index].steps.length - 1));
    for (const list of [byId("map"), byId("steps")]) {
      list.querySelector("[aria-current]")?.removeAttribute("aria-current");
      list.children[step].setAttribute("aria-current", "step");
    }
    if (!scroll) return;
    const list = byId("steps");
    const item = list.children[step];
    list.scrollTop = item.offsetTop - Math.max(0, (list.clientHeight - item.offsetHeight) / 3);
    location.replace(`#episode-${index + 1}${step ? `-step-${step}` : ""}`);
  }

  function other(by) {
    const index = embedded[embedded.indexOf(shown) + by];
    if (index !== undefined) go(index, 0);
  }

  let marked = null;
  function mark(state) {
    marked = state === marked ? null : state;
    byId("player").classList.toggle("marked", marked !== null);
    const hits = [];
    for (const list of [byId("map"), byId("steps")]) {
      [...list.children].forEach((child, at) => {
        const hit = marked !== null && child.dataset.state === String(marked);
        child.classList.toggle("hit", hit);
        if (hit && list.id === "steps") hits.push(at);
      });
    }
    byId("marked").textContent = marked === null ? "" : `State ${marked + 1}: ${hits.length === 1 ? "step" : "steps"} ${hits.join(", ")}`;
  }

  function follow() {
    const found = /^#episode-(\d+)(?:-step-(\d+))?$/.exec(location.hash);
    const index = found ? Number(found[1]) - 1 : -1;
    if (!data.episodes[index]) return;
    const at = Number(found[2] ?? 0);
    if (index !== shown || at !== step) {
      go(index, at);
      byId("viewer").scrollIntoView();
    }
  }

  const keys = { j: () => go(shown, step + 1), k: () => go(shown, step - 1), h: () => other(-1), l: () => other(1), Escape: () => mark(null) };
  const arrows = { ArrowDown: "j", ArrowUp: "k" };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input[type=search], select")) return;
    const inside = byId("player").contains(event.target);
    const act = keys[inside ? (arrows[event.key] ?? event.key) : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  byId("choose").addEventListener("change", (event) => go(Number(event.target.value), 0));
  byId("previous").addEventListener("click", () => other(-1));
  byId("next").addEventListener("click", () => other(1));
  for (const box of document.querySelectorAll("[data-show]")) {
    box.addEventListener("change", () => {
      if (box.dataset.show === "words") byId("steps").classList.toggle("hide-words", !box.checked);
      else document.querySelectorAll(`#steps details.${box.dataset.show}`).forEach((pane) => { pane.open = box.checked; });
    });
  }
  window.addEventListener("hashchange", follow);
  go(embedded[0], 0, false);
  follow();
}

const data = byId("data");
if (data) startViewer(JSON.parse(data.textContent));
startTable();
