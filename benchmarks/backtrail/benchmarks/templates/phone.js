"use strict";
const HOLD = 500; // milliseconds that a long press takes
const LOOK = 2000; // milliseconds until a page looks whether another one has done something
const MOVED = 10; // pixels of the page from which a touch is a drag

const $ = (id) => document.getElementById(id);
const make = (tag, words = "", name = "") => Object.assign(document.createElement(tag), { textContent: words, className: name });

let state = null;
let busy = false;
let looking = false;
let touch = null;
let fading = 0;

// -- to and from the phone

async function call(path, body) {
  const asked = body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, asked);
  } catch {
    throw new Error("Nobody answers: is the program that serves this page still running?");
  }
  const found = await answer.json().catch(() => ({ error: `The program that serves this page failed (${answer.status}).` }));
  if (!answer.ok) throw new Error(found.error);
  return found;
}

async function send(path, body) {
  if (busy) return false;
  setBusy(true);
  try {
    show(await call(path, body));
    const { action_error: error, dropped } = state.info;
    if (error) tell(`Nothing happened: ${error}.`, "cut"); // all of it is with the state
    else if (dropped) tell(`Not typed, as the device cannot: ${dropped}`);
    else if (!state.over) tell("");
    return !error;
  } catch (error) {
    await call("/api/state").then(show, () => {});
    tell(error.message);
    return false;
  } finally {
    setBusy(false);
  }
}

const act = (kind, rest) => send("/api/act", { action: { action_type: kind, ...rest } });

async function look() {
  if (busy || looking || document.hidden) return;
  looking = true; // a device may take long, and the answer comes after its
  const found = await call("/api/state").catch((error) => tell(error.message));
  looking = false;
  if (found && !busy && found.version !== state?.version) {
    show(found);
    if (!state.over) tell("");
  }
}

function setBusy(now) {
  busy = now;
  document.body.classList.toggle("busy", now);
}

function tell(words, kind = "") {
  clearTimeout(fading);
  $("notice").textContent = words;
  $("notice").dataset.kind = kind;
  $("notice").hidden = !words;
  if (words) fading = setTimeout(() => { $("notice").hidden = true; }, 9000);
}

// -- what is shown

function show(next) {
  state = next;
  const { info, actions } = state;
  const last = actions.at(-1);
  $("goal").textContent = state.goal;
  $("task-id").textContent = $("command").textContent = info.task_id;
  const simulated = info.data.startsWith("simulated");
  $("data").dataset.kind = simulated ? "simulated" : "";
  $("data").textContent = simulated ? `A simulated phone (${info.data}): scores are not AndroidWorld's` : info.data;
  const budget = info.budget ?? 0;
  $("steps").textContent = budget ? `${actions.length} of ${budget}` : actions.length;
  $("used").hidden = !budget;
  $("used").max = budget || 1;
  $("used").value = Math.min(actions.length, budget);
  $("used").className = actions.length > budget ? "over" : "";
  $("activity").replaceChildren(...(info.activity || "none").split(/(?<=[./])/).flatMap((part) => [part, make("wbr")]));
  const digest = info.fingerprint;
  $("fingerprint").textContent = digest.slice(digest.lastIndexOf(":") + 1).slice(0, 8);
  $("fingerprint").title = digest;
  $("visits").textContent = info.visits;
  $("last").textContent = last ? last.action : "none yet";
  $("copy-last").disabled = !last;
  $("error").textContent = last?.error ?? "";
  $("error").hidden = !last?.error;
  $("count").textContent = actions.length || "";
  $("copy-all").disabled = !lines();
  $("actions").replaceChildren(...actions.map(({ action, error }) => Object.assign(make("li", action, error && "refused"), { title: error })));
  for (const found of document.querySelectorAll("[data-do], #type button, #open button, #answer button")) found.disabled = state.over;
  showElements();
  $("picture").src = `/screen.png?v=${state.version}`;
  $("result").textContent = outcome();
  $("result").hidden = !outcome();
  $("result").dataset.kind = state.over && info.success ? "won" : "";
  $("actions").scrollTop = $("actions").scrollHeight;
  if (state.over) tell(outcome(), $("result").dataset.kind);
}

function outcome() {
  const count = state.actions.length, steps = `${count} step${count === 1 ? "" : "s"}`;
  if (!state.over) return state.spent ? "The steps are used up: an agent's episode ends here. You may go on." : "";
  return state.info.success ? `Won in ${steps}.` : `Not won, in ${steps}.`;
}

const listed = () => [...state.elements.entries()].filter(([, element]) => element.label);

function showElements() {
  const [width, height] = state.size;
  $("phone").style.setProperty("--ratio", width / height);
  const rows = [], boxes = [], fields = [new Option("the field with the cursor", "")];
  for (const [index, { label, bounds: [left, top, right, bottom], editable, scrollable }] of listed()) {
    const box = make("div", "", scrollable ? "box area" : "box");
    box.append(make("b", index));
    box.dataset.index = index;
    Object.assign(box.style, {
      left: `${(100 * left) / width}%`, top: `${(100 * top) / height}%`,
      width: `${(100 * (right - left)) / width}%`, height: `${(100 * (bottom - top)) / height}%`,
    });
    boxes.push(box);
    const button = make("button");
    const [kind, ...words] = label.split(" ");
    const said = make("span");
    said.append(make("i", kind), ` ${words.join(" ")}`);
    button.append(make("b", index), said);
    button.dataset.index = index;
    button.disabled = state.over;
    const row = make("li");
    row.append(button);
    rows.push(row);
    if (editable) fields.push(new Option(`${index} ${label}`, index));
  }
  $("elements").replaceChildren(...rows);
  $("boxes").replaceChildren(...boxes);
  $("into").replaceChildren(...fields);
  light(null);
}

function light(index) {
  for (const found of document.querySelectorAll("[data-index]")) {
    found.classList.toggle("lit", index !== null && found.dataset.index === String(index));
  }
  const element = index !== null && state.elements[index];
  const hint = "Click, hold or drag; Shift-click taps twice";
  $("under").textContent = element ? `${index} ${element.label} (${element.class_name.split(".").at(-1)})` : hint;
  $("under").title = $("under").textContent;
}

// -- hands on the screen

const area = ({ bounds: [left, top, right, bottom] }) => (right - left) * (bottom - top);
const within = ({ bounds: [left, top, right, bottom] }, { x, y }) => left <= x && x < right && top <= y && y < bottom;

function away({ bounds: [left, top, right, bottom] }, { x, y }) {
  return Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
}

function pointOf(event) {
  const box = $("screen").getBoundingClientRect();
  const [width, height] = state.size;
  const scaled = (at, start, length, pixels) => Math.min(Math.max(Math.floor(((at - start) / length) * pixels), 0), pixels - 1);
  return { x: scaled(event.clientX, box.left, box.width, width), y: scaled(event.clientY, box.top, box.height, height) };
}

function elementAt(point) {
  const found = listed().filter(([, element]) => within(element, point)).sort(([, a], [, b]) => area(a) - area(b));
  return found.length ? found[0][0] : null;
}

function drag(from, to) {
  const [right, down] = [to.x - from.x, to.y - from.y];
  const height = state.size[1];
  const slider = state.elements.find((element) => element.class_name.endsWith("SeekBar") && within(element, from));
  if (slider) return act("click", { x: to.x, y: Math.floor((slider.bounds[1] + slider.bounds[3]) / 2) });
  const across = Math.abs(right) > Math.abs(down);
  const areas = [...state.elements.entries()].filter(([, element]) => element.scrollable);
  const edge = !across && (from.y < 0.03 * height || from.y > 0.97 * height);
  if (edge || !areas.length) { // the names of swipes across are those of the side where they begin
    return act("swipe", { direction: across ? (right > 0 ? "left" : "right") : down > 0 ? "down" : "up" });
  }
  const [[index]] = areas.sort(([, a], [, b]) => away(a, from) - away(b, from) || area(a) - area(b));
  return act("scroll", { index, direction: across ? (right > 0 ? "left" : "right") : down > 0 ? "up" : "down" });
}

function mark(event, name) {
  const box = $("screen").getBoundingClientRect();
  const found = make("div", "", `touch ${name}`);
  Object.assign(found.style, { left: `${event.clientX - box.left}px`, top: `${event.clientY - box.top}px` });
  found.addEventListener("animationend", () => found.remove());
  $("screen").append(found);
  return found;
}

function letGo() {
  clearTimeout(touch.timer);
  touch.held.remove();
  touch = null;
}

$("screen").addEventListener("pointerdown", (event) => {
  if (!state || busy || state.over || touch || event.button !== 0) return;
  event.preventDefault();
  $("screen").setPointerCapture(event.pointerId);
  const from = pointOf(event);
  const timer = setTimeout(() => {
    letGo();
    act("long_press", from);
  }, HOLD);
  touch = { from, timer, event, held: mark(event, "held"), dragged: false };
});
$("screen").addEventListener("pointermove", (event) => {
  if (!state) return;
  if (touch && Math.hypot(event.clientX - touch.event.clientX, event.clientY - touch.event.clientY) > MOVED) {
    clearTimeout(touch.timer);
    touch.dragged = true;
  }
  light(touch ? null : elementAt(pointOf(event)));
});
$("screen").addEventListener("pointerup", (event) => {
  if (!touch) return;
  const { from, dragged } = touch;
  letGo();
  if (dragged) return drag(from, pointOf(event));
  mark(event, "");
  act(event.shiftKey ? "double_tap" : "click", from);
});
$("screen").addEventListener("pointercancel", () => { if (touch) letGo(); });
$("screen").addEventListener("pointerleave", () => { if (state && !touch) light(null); });
$("screen").addEventListener("contextmenu", (event) => event.preventDefault());

// -- hands on the page

for (const kind of ["pointerover", "focusin"]) {
  $("elements").addEventListener(kind, ({ target }) => {
    const row = target.closest("[data-index]");
    if (row) light(Number(row.dataset.index));
  });
}
for (const kind of ["pointerleave", "focusout"]) $("elements").addEventListener(kind, () => { if (state) light(null); });
$("elements").addEventListener("click", ({ target }) => {
  const row = target.closest("[data-index]");
  if (row) act("click", { index: Number(row.dataset.index) });
});
for (const button of document.querySelectorAll("[data-do]")) {
  const { do: kind, status } = button.dataset;
  button.addEventListener("click", () => act(kind, status && { goal_status: status }));
}

function onSubmit(form, how) {
  $(form).addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await how()) $(form).reset(); // what was refused stays to be put right
  });
}
onSubmit("type", () => {
  const target = $("into").value === "" ? {} : { index: Number($("into").value) };
  return act("input_text", { ...target, text: $("words").value, ...($("clear").checked && { clear_text: true }) });
});
onSubmit("open", () => act("open_app", { app_name: $("app").value }));
onSubmit("answer", () => act("answer", { text: $("said").value }));
onSubmit("go", () => send("/api/reset", { task_id: $("wanted").value.trim() }));
$("again").addEventListener("click", () => send("/api/reset", {}));
$("next").addEventListener("click", () => send("/api/reset", { seed: state ? state.seed + 1 : 0 }));

function lines() {
  return state.actions.filter(({ error }) => !error).map(({ action }) => `${action}\n`).join("");
}

async function copy(words) {
  try {
    await navigator.clipboard.writeText(words);
    tell("Copied.");
  } catch {
    tell("The browser did not let this page copy: mark the text and copy it by hand.");
  }
}
$("copy-last").addEventListener("click", () => copy($("last").textContent));
$("copy-all").addEventListener("click", () => copy(lines()));
$("show").addEventListener("change", ({ target }) => $("boxes").classList.toggle("boxes", target.checked));

look();
setInterval(look, LOOK);
