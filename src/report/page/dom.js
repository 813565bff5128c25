// Elements and texts. Every text goes through `shown`: what is not seen is spelled out, and nothing is parsed as HTML.

const SVG = 'http://www.w3.org/2000/svg';

// Control characters but tab and line feed; format, private and unpaired ones; separators; fillers and selectors.
const HIDDEN = /[\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u0000-\u0008\u000b-\u001f\u007f-\u009f\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;

function code(character) {
  return 'U+' + character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
}

// A text as a string, for places that hold no elements.
function plain(text) {
  return String(text).replace(/\r\n/g, '\n').replace(HIDDEN, (character) => `[${code(character)}]`);
}

// A text as nodes.
function shown(text) {
  const out = document.createDocumentFragment();
  const whole = String(text).replace(/\r\n/g, '\n');
  let from = 0;
  for (const hit of whole.matchAll(HIDDEN)) {
    if (hit.index > from) out.append(whole.slice(from, hit.index));
    const mark = document.createElement('span');
    mark.className = 'hidden-character';
    mark.title = 'a character that is not seen';
    mark.textContent = code(hit[0]);
    out.append(mark);
    from = hit.index + hit[0].length;
  }
  out.append(whole.slice(from));
  return out;
}

function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : shown(child));
  }
  return element;
}

function el(tag, attributes, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  // No elements for hidden characters inside drawings.
  const safe = children.flat(Infinity).map((child) => (child instanceof Node ? child : document.createTextNode(plain(child))));
  return furnish(document.createElementNS(SVG, tag), attributes, safe);
}

function byId(id) {
  return document.getElementById(id);
}

// A group of buttons of which one is pressed. `choices`: [value, label, reason why not].
function choice(label, choices, value, chosen) {
  const group = el('div', { class: 'switch', role: 'group', 'aria-label': label });
  const press = (wanted) => {
    for (const button of group.children) button.setAttribute('aria-pressed', button.dataset.value === wanted);
  };
  for (const [name, text, why] of choices) {
    const pressed = () => { press(name); chosen(name); };
    group.append(el('button', { 'data-value': name, disabled: Boolean(why), title: why, onclick: pressed }, text));
  }
  press(value);
  return group;
}

// A score: five places, or powers of ten where they would show nothing.
function score(value) {
  if (value === null || value === undefined) return 'none';
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3);
  return value.toFixed(size >= 1000 ? 2 : 5);
}

function signed(value) {
  return (value > 0 ? '+' : value < 0 ? '−' : '±') + score(Math.abs(value));
}

function duration(ms) {
  if (ms === null || ms === undefined) return 'unknown';
  const s = ms / 1000;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 120) return `${Math.round(s)} s`;
  if (s < 7200) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
}

function dollars(amount) {
  if (amount === null || amount === undefined) return 'unknown';
  if (amount === 0) return '$0';
  return '$' + (amount >= 1 ? amount.toFixed(2) : amount >= 0.0001 ? amount.toFixed(4) : amount.toPrecision(2));
}

function bytes(count) {
  if (count >= 1 << 30) return `${(count / (1 << 30)).toFixed(1)} GiB`;
  if (count >= 1 << 20) return `${Math.round(count / (1 << 20))} MiB`;
  return `${Math.round(count / 1024)} KiB`;
}

function many(count, word) {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}
