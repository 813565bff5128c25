// The page: headline, figures, the three panels, keys, and the address that names the open item.

function figure(title, value, under, more) {
  return el('div', { class: more ? 'figure score' : 'figure' }, el('h3', {}, title), el('div', { class: 'value' }, value, more), under && el('div', { class: 'under' }, under));
}

function drawHead() {
  const sub = `${story.metric}, ${story.direction} is better`;
  const models = [...new Set(story.facts.filter(({ name }) => name.startsWith('model')).map(({ value }) => value))].join(', ');
  const seed = story.facts.find(({ name }) => name === 'seed')?.value;
  byId('head').replaceChildren(
    el('span', { class: 'brand', title: 'podium', 'aria-hidden': true }, el('i'), el('i'), el('i')),
    el('h1', {}, story.title), el('span', { class: 'sub' }, sub), el('span', { class: 'sub' }, models), seed && el('span', { class: 'sub' }, `seed ${seed}`),
    el('div', { class: 'tools' }, el('button', { class: 'tool', onclick: turnLights }, 'Dark or light'), el('button', { class: 'tool', onclick: () => byId('keys').showModal() }, 'Keys')),
    ...story.warnings.map((warning) => el('p', { class: 'notice' }, el('b', {}, '! '), warning)));
}

function drawFigures() {
  const grade = story.grade;
  const handed = byNumber.get(story.selected);
  const cards = [];
  if (grade && grade.score !== null) {
    const medal = el('span', { class: `medal ${grade.medal ?? 'median'}` }, grade.medal ?? 'no medal');
    const place = grade.percentile === null ? grade.board.split(':')[0] : `better than ${Math.round(grade.percentile)} % of ${grade.board.split(/[,:]/)[0]}`;
    cards.push(figure('Test score', score(grade.score), place, medal));
  } else if (grade) {
    cards.push(figure('Test score', 'invalid', grade.reason));
  }
  if (handed && handed.metric !== null) {
    const gap = grade?.gap;
    const said = gap === null || gap === undefined ? `of ${unit} ${handed.id}`
      : gap === 0 ? `of ${unit} ${handed.id}, as in the test` : `too ${gap > 0 ? 'optimistic' : 'pessimistic'} by ${score(Math.abs(gap))}`;
    cards.push(figure('Validation', score(handed.metric), said));
  }
  if (grade && grade.lines.length && grade.score !== null) {
    const strip = el('div', { class: 'figure wide' }, el('h3', {}, 'Where it stands (better to the right; ▽ validation)'), medalStrip(grade, handed?.metric ?? null));
    cards.push(strip);
  }
  cards.push(figure(unit === 'step' ? 'Steps' : 'Nodes', items.length.toLocaleString('en'), unit === 'step' ? `${buggy} failed` : `${buggy.toLocaleString('en')} buggy`));
  cards.push(figure('Run time', duration(story.run_ms), story.ending ? `ended: ${story.ending.stopped_by.replace('_', ' ')}` : 'still going on'));
  cards.push(figure('Cost', dollars(story.cost), story.ending ? story.ending.outcome.replace('_', ' ') : ''));
  byId('figures').replaceChildren(...cards);
}

function drawFoot() {
  const foot = byId('foot');
  const wasOpen = foot.querySelector('details')?.open;
  foot.replaceChildren();
  if (story.notes.length) foot.append(el('ul', {}, ...story.notes.map((note) => el('li', {}, note))));
  const facts = story.facts.map(({ name, value }) => [name, value]);
  if (story.ending) facts.push(['stopped by', `${story.ending.stopped_by}: ${story.ending.detail}`]);
  if (story.grade) facts.push(['board', story.grade.board], ...story.grade.lines.map(([name, value]) => [name, score(value)]));
  foot.append(el('details', { open: wasOpen }, el('summary', {}, 'All facts of the run'), factList(facts)));
  const isLoop = unit === 'step';
  const ofTree = [['← →', 'parent, first child'], ['↑ ↓', 'sibling'], ['f', 'whole tree'], ['+ −', 'larger, smaller'], ['d', 'changes or whole script']];
  const keys = [...(isLoop ? [['f e', 'first step, last step']] : ofTree), ['j k', 'next, previous in order'], ['b', 'what was handed in'], ['1 – 4', 'tabs'], ['/', 'go to a number'], ['t', 'dark or light']];
  foot.append(el('dialog', { id: 'keys' }, el('h2', {}, 'Keys'), el('dl', { class: 'facts' }, ...keys.flatMap(([key, what]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, what)])),
    el('p', {}, isLoop ? 'Click the head of a step to see its times, tokens and calls.' : 'Drag the tree to move it, turn the wheel to scale it, click a node or a point to open it.'),
    el('form', { method: 'dialog' }, el('button', { class: 'tool' }, 'Close'))));
}

function legend() {
  const entry = (shape, text) => el('span', {}, svg('svg', { viewBox: '-8 -7 16 14' }, shape), text);
  const dot = svg('circle', { r: 5, fill: 'var(--better)' });
  const cross = svg('path', { d: 'M-4-4 4 4M4-4-4 4', stroke: 'var(--bad)', 'stroke-width': 2 });
  const record = svg('circle', { r: 5, fill: 'var(--better)', stroke: 'var(--ink)', 'stroke-width': 1.6 });
  const star = svg('path', { d: STAR, fill: 'var(--accent)' });
  const marks = dense ? [entry(dot, 'good'), entry(record, 'best so far'), entry(cross, 'buggy'), entry(star, 'handed in')]
    : [el('span', {}, '★ handed in'), el('span', {}, '▲ best so far'), el('span', {}, '✕ buggy')];
  return [...marks, el('span', {}, el('i', {}), 'rank')];
}

function drawLegend() {
  byId('marks').replaceChildren(...(unit === 'step' ? [] : legend()));
}

// Draws anew what has changed of a run that goes on; what is open stays open.
function renewed(changed) {
  drawAround();
  drawLegend();
  if (tree) tree.renew(current && byNumber.get(current.id), changed);
  else tree = begun();
  plot.draw();
  if (!current && items.length) { tree.begin(items[0]); open_(items[0], true); }
  else if (current && changed.has(current.id)) open_(byNumber.get(current.id), true);
  else if (current) current = byNumber.get(current.id);
}

function turnLights() {
  document.documentElement.classList.toggle('dark');
  tree?.repaint();
}

if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark');
function drawAround() {
  drawHead();
  drawFigures();
  drawFoot();
}

drawAround();

let current = null;
const detail = makeDetail(byId('detail'), (item) => open_(item));
// A search is a tree, a loop a log. Before anything has finished nobody knows which.
let tree = begun();

const plot = makePlot(byId('plot'), (item) => open_(item));

function begun() {
  if (!items.length) return null;
  const isLoop = unit === 'step';
  document.querySelector('.stage').classList.toggle('loop', isLoop);
  drawBar();
  if (isLoop) return makeLog(byId('tree'), (item) => open_(item));
  Object.entries({ tabindex: 0, role: 'application', 'aria-roledescription': 'tree' }).forEach(([name, value]) => byId('tree').setAttribute(name, value));
  return makeTree(byId('tree'), (item) => open_(item));
}

function drawBar() {
  const jump = el('input', { class: 'jump', id: 'jump', type: 'search', inputmode: 'numeric', placeholder: `${unit} …`, 'aria-label': `Go to a ${unit} by its number` });
  jump.addEventListener('change', () => open_(byNumber.get(Number.parseInt(jump.value, 10))));
  const tool = (text, onclick, disabled) => el('button', { class: 'tool', onclick, disabled }, text);
  const ends_ = unit === 'step' ? [tool('First', () => tree?.fit()), tool('Last', () => tree?.end())] : [tool('Whole tree', () => tree?.fit())];
  byId('tree-bar').replaceChildren(el('h2', { id: 'tree-title' }, unit === 'step' ? 'Log' : 'Search tree'), el('span', { class: 'legend', id: 'marks' }), el('span', { class: 'push' }),
    jump, ...ends_, tool('Handed in', () => open_(byNumber.get(story.selected)), !byNumber.has(story.selected)));
  drawLegend();
}

function open_(item, silent) {
  if (!item) return;
  current = item;
  tree.mark(item);
  plot.mark(item);
  detail.show(item);
  byId('tree').setAttribute('aria-label', `${unit === 'step' ? 'Log' : 'Search tree'}: ${inWords(item)}`);
  // Replaced, not added: the way back leads out of the page.
  if (!silent) history.replaceState(null, '', `#${unit}=${item.id}`);
}

function named() {
  const hit = /^#(?:node|step)=(\d+)$/.exec(location.hash);
  return hit && byNumber.get(Number(hit[1]));
}

(() => {
  if (!tree) drawBar();
  const paid = story.cost === null ? 'what it cost is not known' : story.cost > 0 ? null : 'nothing was paid';
  const over = choice('Over what', [['time', 'Run time'], ['dollars', 'Dollars', paid], ['order', 'Nodes']], 'time', (wanted) => plot.over(wanted));
  byId('plot-bar').append(el('h2', { id: 'plot-title' }, `Best validation ${story.metric}`), el('span', { class: 'legend' }, `${lower ? '↓' : '↑'} ${story.direction} is better`), el('span', { class: 'push' }), over);
})();

const best = items.reduce((found, item) => (item.record ? item : found), null);
// A log is read from its beginning, and one that goes on from its end.
const ofLog = unit === 'step' ? (story.ending ? items[0] : items.at(-1)) : null;
const first = named() ?? ofLog ?? byNumber.get(story.selected) ?? best ?? items[0];
if (first) { tree.begin(first); open_(first, true); } else detail.empty();
addEventListener('hashchange', () => open_(named(), true));

source.follow?.(renewed);

// Keys work everywhere but where somebody writes; arrows scroll what is being read.
addEventListener('keydown', (event) => {
  const at = event.target instanceof Element ? event.target : document.body;
  if (event.ctrlKey || event.metaKey || event.altKey || at.closest('input, dialog') || !current) return;
  if (event.key.startsWith('Arrow') && at.closest('.body, .log')) return;
  const siblings = current.parent ? current.parent.children : items.filter((item) => !item.parent);
  const beside = (list, by) => list[list.indexOf(current) + by];
  const acts = {
    ArrowLeft: () => open_(current.parent), ArrowRight: () => open_(current.children[0]),
    ArrowUp: () => open_(beside(siblings, -1)), ArrowDown: () => open_(beside(siblings, 1)),
    j: () => open_(beside(items, 1)), k: () => open_(beside(items, -1)), b: () => open_(byNumber.get(story.selected)),
    d: () => detail.swap(), f: () => tree.fit(), e: () => tree.end?.(), '+': () => tree.zoom(1.3), '=': () => tree.zoom(1.3), '-': () => tree.zoom(1 / 1.3),
    '/': () => byId('jump').focus(), t: turnLights, '?': () => byId('keys').showModal(),
  };
  ['1', '2', '3', '4'].forEach((key, place) => { acts[key] = () => detail.turn(place); });
  if (!Object.hasOwn(acts, event.key)) return;
  event.preventDefault();
  acts[event.key]();
});
