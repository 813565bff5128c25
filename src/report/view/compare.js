// Runs beside each other: how they differ, and the best validation of each over run time, dollars or nodes.

crumbs('', 'Compare runs');
const MOST = 8;
const names = [...new Set(asked.getAll('at'))];
// Each run has a line of its own kind as well as a colour of its own.
const DASHES = [null, '7 4', '2 3', '9 3 2 3', '1 4', '12 4', '5 2 1 2', '3 6'];

async function one(at) {
  try {
    return { at, view: await ask('run', { at }) };
  } catch (error) {
    return { at, error };
  }
}

const value = (told) => (told === null || told === undefined ? null : Number(told));

// The best so far, at each item that was better than all before.
function course(view, of) {
  const lower = view.story.direction === 'lower';
  const points = [];
  let best = null;
  view.items.forEach((item, place) => {
    const metric = value(item.metric);
    if (!item.good || metric === null || !Number.isFinite(metric)) return;
    if (best !== null && (lower ? metric >= best : metric <= best)) return;
    best = metric;
    const x = of(item, place);
    if (x !== null && x !== undefined) points.push([x, metric]);
  });
  return points;
}

const AXES = {
  time: { of: (item) => item.at_ms, end: (view) => view.story.run_ms, text: shortTime, name: 'run time' },
  dollars: { of: (item) => item.spent, end: (view) => view.story.cost, text: (value) => '$' + Number(value.toPrecision(3)), name: 'dollars' },
  order: { of: (_, place) => place + 1, end: (view) => view.items.length, text: String, name: 'nodes' },
};

function plot(group, axis) {
  const [width, height] = [980, 320];
  const box = { left: 70, right: width - 44, top: 14, bottom: height - 42 };
  const { of, end, text, name } = AXES[axis];
  const lines = group.map((run) => ({ run, points: course(run.view, of), last: end(run.view) ?? 0 }));
  const values = lines.flatMap(({ points }) => points.map(([, metric]) => metric));
  if (!values.length) return el('p', { class: 'empty' }, 'None of them has a validation metric to draw.');
  const lower = group[0].view.story.direction === 'lower';
  // One bad first model must not flatten the rest.
  const sorted = [...values].sort((one, other) => (lower ? one - other : other - one));
  const worst = sorted[Math.floor((sorted.length - 1) * (sorted.length > 8 ? 0.9 : 1))];
  let [low, high] = [Math.min(sorted[0], worst), Math.max(sorted[0], worst)];
  const room = (high - low || Math.abs(high) * 0.1 || 1) * 0.08;
  [low, high] = [low - room, high + room];
  const far = Math.max(...lines.map(({ last, points }) => Math.max(last, ...points.map(([x]) => x))), 1e-9);
  const x = (at) => box.left + (at / far) * (box.right - box.left);
  const y = (metric) => box.bottom - ((Math.min(high, Math.max(low, metric)) - low) / (high - low)) * (box.bottom - box.top);
  const out = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Best validation ${group[0].view.story.metric} over ${name}` });
  for (const metric of ticks(low, high, 5)) {
    out.append(svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(metric), y2: y(metric) }),
      svg('text', { x: box.left - 8, y: y(metric) + 4, 'text-anchor': 'end' }, score(metric)));
  }
  for (const at of axis === 'time' ? timeTicks(far) : ticks(0, far, 7)) {
    if (axis === 'order' && !Number.isInteger(at)) continue;
    out.append(svg('text', { x: x(at), y: box.bottom + 17, 'text-anchor': 'middle' }, text(at)));
  }
  out.append(svg('text', { x: (box.left + box.right) / 2, y: height - 6, 'text-anchor': 'middle' }, name));
  for (const { run, points, last } of lines) {
    if (!points.length) continue;
    let path = '';
    points.forEach(([at_, metric], place) => { path += place ? `H${x(at_)}V${y(metric)}` : `M${x(at_)} ${y(metric)}`; });
    path += `H${x(Math.max(last, points.at(-1)[0]))}`;
    const [endX, endY] = [x(Math.max(last, points.at(-1)[0])), y(points.at(-1)[1])];
    out.append(svg('path', { class: `course line-${run.place}`, 'stroke-dasharray': DASHES[run.place], d: path }, svg('title', {}, `${run.letter}: ${run.at}`)),
      svg('circle', { class: `dot line-${run.place}`, cx: endX, cy: endY, r: 8 }),
      svg('text', { class: 'letter', x: endX, y: endY + 4, 'text-anchor': 'middle' }, run.letter));
  }
  return out;
}

function swatch(run) {
  return svg('svg', { class: 'swatch', viewBox: '0 0 34 10', 'aria-hidden': true }, svg('path', { class: `course line-${run.place}`, 'stroke-dasharray': DASHES[run.place], d: 'M1 5H33' }));
}

// Facts side by side; those that differ come first and say so.
function facts(runs) {
  const told = new Map();
  const put = (name, run, text) => { if (!told.has(name)) told.set(name, new Map()); told.get(name).set(run, text); };
  for (const run of runs) {
    const { story, items } = run.view;
    const grade = story.grade;
    put('state', run, story.ending ? `${story.ending.outcome.replaceAll('_', ' ')}, stopped by ${story.ending.stopped_by.replaceAll('_', ' ')}` : run.view.going_on ? 'going on' : 'cut off');
    put('test score', run, grade ? (grade.score === null ? 'invalid' : `${score(value(grade.score))}${grade.medal ? ` · ${grade.medal}` : ''}`) : 'none');
    const handed = items.find((item) => item.id === story.selected);
    put('validation', run, handed ? score(value(handed.metric)) : 'none');
    put('nodes', run, `${items.length}, ${items.filter((item) => !item.good).length} buggy`);
    put('run time', run, duration(story.run_ms));
    put('cost', run, dollars(story.cost));
    for (const { name, value: text } of story.facts) if (!['time', 'calls', 'identity'].includes(name)) put(name, run, text);
  }
  const rows = [...told].map(([name, values]) => ({ name, values, differs: new Set(runs.map((run) => values.get(run))).size > 1 }));
  rows.sort((one, other) => other.differs - one.differs);
  const head = el('tr', {}, el('th', { scope: 'col' }, ''), ...runs.map((run) => el('th', { scope: 'col' }, el('span', { class: 'run-head' }, el('b', { class: 'badge' }, run.letter), ' ', link('run', { at: run.at }, run.at.split('/').at(-1) || 'this run'), swatch(run)))));
  return el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Facts side by side' },
    el('table', { class: 'beside' }, el('thead', {}, head), el('tbody', {}, ...rows.map(({ name, values, differs }) =>
      el('tr', { class: differs ? 'differs' : 'same' }, el('th', { scope: 'row' }, differs ? [el('span', { class: 'sign', title: 'they differ' }, '≠'), ' '] : '', name), ...runs.map((run) => el('td', {}, values.get(run) ?? '')))))));
}

const loaded = await Promise.all(names.slice(0, MOST).map(one));
const runs = loaded.filter(({ view }) => view);
runs.forEach((run, place) => { run.place = place; run.letter = 'ABCDEFGH'[place]; });
const groups = new Map();
for (const run of runs) {
  const competition = run.view.story.facts.find(({ name }) => name === 'competition')?.value ?? '';
  if (!groups.has(competition)) groups.set(competition, []);
  groups.get(competition).push(run);
}
const content = byId('content');
content.append(el('header', { class: 'head' }, el('h1', {}, 'Runs beside each other')),
  ...loaded.filter(({ error }) => error).map(({ at, error }) => el('p', { class: 'trouble' }, `${at}: ${error.message}`)));
if (names.length > MOST) content.append(el('p', { class: 'soft' }, `The first ${MOST} of ${names.length} are shown.`));
if (!runs.length) content.append(el('p', { class: 'empty' }, 'Choose runs in a list of runs, and they stand here.'));
else {
  const body = el('main', {});
  let axis = 'time';
  const plots = el('div', {});
  const draw = () => plots.replaceChildren(...[...groups].map(([competition, group]) => {
    const { metric, direction } = group[0].view.story;
    return el('section', {}, el('h2', {}, competition, el('small', {}, ` best validation ${metric}, ${direction} is better`)), el('div', { class: 'panel chart' }, plot(group, axis)));
  }));
  body.append(el('div', { class: 'above' }, choice('Over what', [['time', 'Run time'], ['dollars', 'Dollars'], ['order', 'Nodes']], axis, (wanted) => { axis = wanted; draw(); })),
    plots, el('section', {}, el('h2', {}, 'What differs'), facts(runs),
      el('p', { class: 'soft' }, 'Single runs tell little: an experiment compares with intervals, podium experiment report.')));
  content.append(body);
  draw();
}
