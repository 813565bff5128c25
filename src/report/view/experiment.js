// One experiment: how far it is, its report with plots, a grid of all its runs, and the runs as a table.

const at = asked.get('at') ?? '';
crumbs(at);
const chosen = new Set();
const compare = el('a', { class: 'tool go', hidden: true });
const picked = () => {
  compare.hidden = chosen.size < 1;
  compare.href = link('compare', { at: [...chosen] }).href;
  compare.textContent = chosen.size === 1 ? 'Choose one more to compare' : `Compare ${chosen.size} runs`;
};

// What a run came to in one letter or mark, with its meaning beside it.
const MARKS = {
  gold: ['G', 'gold medal'], silver: ['S', 'silver medal'], bronze: ['B', 'bronze medal'], graded: ['●', 'graded, no medal'],
  failed: ['✕', 'no valid submission'], going_on: ['◐', 'going on'], stopped: ['◍', 'stopped, may go on'], cut: ['◌', 'cut off'],
  not_begun: ['○', 'not begun'], damaged: ['!', 'damaged'],
};

function kind(row) {
  if (row.state === 'ended') return row.medal ?? (row.outcome === 'graded' || row.outcome === 'no_answers' ? 'graded' : 'failed');
  return row.state;
}

function mark(row) {
  const what = kind(row);
  const [sign, word] = MARKS[what];
  const name = `seed ${row.seed}: ${word}${row.score === null ? '' : `, test ${score(Number(row.score))}`}`;
  const attributes = { class: `mark ${what}`, title: name, 'aria-label': name };
  if (row.state === 'not_begun') return el('span', { ...attributes, role: 'img' }, sign);
  const out = link('run', { at: row.at }, sign);
  for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
  return out;
}

// Competitions against arms: one mark for each seed.
function grid(view) {
  const axes = view.varied.length ? view.varied : ['scaffold'];
  const arm = (row) => axes.map((axis) => row.arm[axis] ?? '').join(' · ');
  const arms = [...new Set(view.runs.map(arm))];
  const cells = new Map();
  for (const row of view.runs) {
    const key = JSON.stringify([row.competition, arm(row)]);
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(row);
  }
  const competitions = [...new Set(view.runs.map((row) => row.competition))].sort();
  const line = (competition) => el('tr', {}, el('th', { scope: 'row' }, competition), ...arms.map((name) => {
    const rows = cells.get(JSON.stringify([competition, name])) ?? [];
    return el('td', {}, el('span', { class: 'marks' }, ...rows.sort((one, other) => one.seed - other.seed).map(mark)));
  }));
  const table = el('table', { class: 'grid' }, el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Competition'), ...arms.map((name) => el('th', { scope: 'col' }, name)))),
    el('tbody', {}, ...competitions.map(line)));
  const used = new Set(view.runs.map(kind));
  const key = el('p', { class: 'key' }, ...Object.entries(MARKS).filter(([name]) => used.has(name)).map(([name, [sign, word]]) =>
    el('span', {}, el('span', { class: `mark ${name}`, 'aria-hidden': true }, sign), ` ${word}`)));
  return [el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'All runs by competition and arm' }, table), key];
}

function figures(view) {
  const counts = Object.entries(view.counts).map(([word, count]) => `${count} ${word.replaceAll('_', ' ')}`).join(' + ');
  return [
    card('Planned', view.planned.toLocaleString('en'), counts),
    card('Ended', view.ended.toLocaleString('en'), `${view.planned - view.ended} left${view.going_on ? `, ${view.going_on} going on` : ''}`),
    card('Competitions', view.competitions, null),
    card('Compares', view.varied.join(', ') || 'nothing', null),
    card('Cost', dollars(view.cost), 'of runs with a report'),
  ];
}

const place = { figures: el('section', { class: 'figures', 'aria-label': 'The experiment in numbers' }), grid: el('div', {}), report: el('section', { 'aria-label': 'Report' }) };
let runs = null;
let reportedAs = '';

// What it has come to so far, told anew when a run has. A report that cannot be made leaves the rest of the page.
async function report(view) {
  const now = JSON.stringify([view.counts, view.cost]);
  if (now === reportedAs) return;
  reportedAs = now;
  try {
    place.report.replaceChildren(drawReport(await ask('report', { at })));
  } catch (error) {
    place.report.replaceChildren(el('p', { class: 'trouble' }, `There is no report: ${error.message}`));
  }
}

function draw(view) {
  place.figures.replaceChildren(...figures(view));
  place.grid.replaceChildren(...grid(view));
  runs.show(view.runs);
}

try {
  const view = await ask('experiment', { at });
  document.title = `${plain(view.name)} · podium`;
  runs = runTable({ label: 'Runs', axes: view.varied, chosen, picked, empty: 'The plan has no runs.' });
  byId('content').append(
    el('header', { class: 'head' }, el('h1', {}, view.name), el('span', { class: 'sub' }, 'experiment')),
    place.figures,
    el('main', {}, place.report,
      el('section', { 'aria-labelledby': 'of-grid' }, el('h2', { id: 'of-grid' }, 'Every run'), place.grid),
      el('section', { 'aria-labelledby': 'of-runs' }, el('h2', { id: 'of-runs' }, 'Runs ', compare), runs.whole)));
  draw(view);
  await report(view);
  poll(async () => {
    const next = await ask('experiment', { at });
    if (document.activeElement?.closest('.grid')) return true;
    draw(next);
    // What somebody reads is not drawn anew under his eyes.
    if (!document.activeElement?.closest('.report')) await report(next);
    return true;
  }, 5000);
} catch (error) {
  failed(error);
}
