// A loop as a log that is read from top to bottom: each step with its number, what was thought, done and seen. A step is
// an empty place until it comes near the window: then its head is drawn and its texts are read, so that thousands of steps
// open as quickly as ten. Long texts are folded.

const LINE_WORDS = { said: '', plan: 'plan', act: 'act', seen: 'observation', refused: 'refused', told: 'the harness says',
  condensed: 'left out of the context', checked: 'submission', harness: 'harness' };
const SCREENS = ['act', 'seen', 'plan', 'refused'];
// What is folded, and how much of both ends is shown then.
const LONG = { lines: 18, letters: 2400, head: 8, tail: 6, most: 1000 };

// The first or last letters of a text; no letter is cut in two.
function end(text, from, to) {
  const half = (at) => /[\ud800-\udbff]/.test(text[at - 1] ?? '') ? at - 1 : at;
  return text.slice(half(from), half(to));
}

// A text, or both of its ends and a button for the whole.
function folding(text, screen) {
  const draw = (piece) => (screen ? el('pre', { class: 'screen' }, piece) : el('div', { class: 'prose', dir: 'auto' }, piece));
  const lines = text.split('\n');
  if (lines.length <= LONG.lines && text.length <= LONG.letters) return draw(text);
  const many_ = lines.length > LONG.lines;
  let [head, tail] = many_ ? [lines.slice(0, LONG.head).join('\n'), lines.slice(-LONG.tail).join('\n')] : [text, text];
  [head, tail] = [end(head, 0, Math.min(head.length, LONG.most)), end(tail, Math.max(0, tail.length - LONG.most / 2), tail.length)];
  const whole = el('div', { class: 'folding' });
  const shows = (open, focus) => {
    const left = many_ ? many(lines.length - LONG.head - LONG.tail, 'line') : `${(text.length - head.length - tail.length).toLocaleString('en')} letters`;
    const turn = el('button', { class: 'fold', 'aria-expanded': String(open), onclick: () => shows(!open, true) }, open ? 'Fold' : `⋯ ${left} more`);
    whole.replaceChildren(...(open ? [turn, draw(text)] : [draw(head), turn, draw(tail)]));
    if (focus) turn.focus({ preventScroll: true });
  };
  shows(false);
  return whole;
}

function logLine({ kind, title, text, failed }) {
  const word = LINE_WORDS[kind] ?? kind;
  const heading = [failed ? '✕ ' : '', word, word && title ? ' · ' : '', title];
  return el('section', { class: `line ${kind}${failed ? ' failed' : ''}`, 'data-kind': kind }, el('h3', {}, ...heading),
    text && folding(text, SCREENS.includes(kind)));
}

function makeLog(place, opened) {
  place.className = 'log';
  place.setAttribute('tabindex', 0);
  place.setAttribute('role', 'log');
  place.setAttribute('aria-live', 'off');
  const drawn = new Map();
  const wanted = new Set();
  let current = null;
  let asking = 0;
  // What stays where it is while steps around it are read and grow: a step that was gone to, or the end, until somebody
  // scrolls. Whoever reads the end of a run that goes on is kept there.
  const END = 'end';
  let held = null;
  for (const kind of ['wheel', 'touchmove', 'pointerdown', 'keydown']) place.addEventListener(kind, () => { held = null; }, { passive: true });
  place.addEventListener('scroll', () => {
    if (!held && !story.ending && place.scrollTop + place.clientHeight >= place.scrollHeight - 60) held = END;
  });
  const top = (id) => drawn.get(id).whole.getBoundingClientRect().top - place.getBoundingClientRect().top;
  const hold = () => {
    if (held === END) place.scrollTop = place.scrollHeight;
    else if (held) place.scrollTop += top(held.id) - 8;
  };

  const near = new IntersectionObserver((seen) => {
    for (const one of seen) {
      const id = Number(one.target.dataset.node);
      if (one.isIntersecting) furnishStep(id);
      if (one.isIntersecting && !drawn.get(id).filled) wanted.add(id);
      else wanted.delete(id);
    }
    pump();
  }, { root: place, rootMargin: '900px 0px' });

  // A few at a time, the one nearest to the top of the window first.
  function pump() {
    while (asking < 4 && wanted.size) {
      const id = [...wanted].reduce((best, one) => (Math.abs(top(one)) < Math.abs(top(best)) ? one : best));
      wanted.delete(id);
      asking += 1;
      fill(id).finally(() => { asking -= 1; pump(); });
    }
  }

  async function fill(id) {
    const step = drawn.get(id);
    let content;
    try {
      const detail = await detailOf(id);
      content = detail.log.length ? detail.log.map(logLine) : [el('p', { class: 'empty' }, 'Nothing was written of it.')];
      step.filled = true;
    } catch (error) {
      content = [el('p', { class: 'empty warn' }, `It cannot be shown: ${error.message}`)];
    }
    step.body.replaceChildren(...content);
    step.body.classList.remove('unread');
    hold();
  }

  function head(item) {
    const chips = [!item.good && el('span', { class: 'chip bad' }, '✕ failed'), item.handed && el('span', { class: 'chip handed' }, '★ handed in')];
    return el('button', { class: 'step-head', title: 'Show its times, tokens and calls', onclick: () => opened(item) },
      el('span', { class: 'step-number' }, `Step ${item.id}`), el('span', { class: 'step-what' }, item.operator), ...chips,
      el('span', { class: 'step-when' }, duration(item.at_ms)));
  }

  function draw(item) {
    const whole = el('section', { class: 'step', 'data-node': item.id, 'aria-label': inWords(item) });
    drawn.set(item.id, { whole, body: null, filled: false });
    near.observe(whole);
    return whole;
  }

  // The head of a step, and room for its texts.
  function furnishStep(id) {
    const step = drawn.get(id);
    if (step.body) return;
    step.body = el('div', { class: 'step-body unread' });
    step.whole.append(head(byNumber.get(id)), step.body);
  }

  place.append(...items.map(draw));

  function mark(item) {
    const again = current?.id === item.id;
    drawn.get(current?.id)?.whole.classList.remove('open');
    current = item;
    const step = drawn.get(item.id);
    step.whole.classList.add('open');
    if (again || held === END && item === items.at(-1)) return;
    const at = top(item.id);
    held = at < 0 || at > place.clientHeight - 60 ? item : null;
    hold();
  }

  // Steps that are new, and those that have changed.
  function renew(item, changed) {
    for (const one of items) {
      const step = drawn.get(one.id);
      if (!step) { place.append(draw(one)); continue; }
      if (!changed.has(one.id)) continue;
      step.whole.setAttribute('aria-label', inWords(one));
      if (step.body) step.whole.firstChild.replaceWith(head(one));
      if (step.filled) fill(one.id);
    }
    if (item) { current = item; drawn.get(item.id).whole.classList.add('open'); }
    hold();
  }

  const last = () => { held = END; hold(); };
  const begin = (item) => { if (item === items.at(-1) && !story.ending) last(); };
  return { begin, fit: () => { held = null; place.scrollTop = 0; }, end: last, mark, renew, zoom: () => {}, repaint: () => {} };
}
