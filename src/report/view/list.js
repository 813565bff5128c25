// The first page: experiments and runs of the folder, and what lies beside them.

crumbs('');
const chosen = new Set();
const compare = el('a', { class: 'tool go', hidden: true });
const picked = () => {
  compare.hidden = chosen.size < 1;
  compare.href = link('compare', { at: [...chosen] }).href;
  compare.textContent = chosen.size === 1 ? 'Choose one more to compare' : `Compare ${chosen.size} runs`;
};

function counted(row) {
  if (row.fault) return [el('span', { class: 'fate bad' }, '✕ damaged'), el('div', { class: 'fault' }, row.fault)];
  return Object.entries(row.counts).map(([word, count]) => `${count} ${word.replaceAll('_', ' ')}`).join(' · ');
}

function progress(row) {
  if (!row.planned) return '';
  const share = Math.round((100 * row.ended) / row.planned);
  return el('progress', { max: row.planned, value: row.ended, 'aria-label': `${row.ended} of ${row.planned} runs ended` }, `${share} %`);
}

const experiments = makeTable({
  label: 'Experiments', filters: true,
  columns: [
    column('Experiment', (row) => link('experiment', { at: row.at }, row.name), (row) => row.name, 'name'),
    column('Runs', (row) => row.planned || '', (row) => row.planned, 'number'),
    column('Ended', progress, (row) => row.ended / (row.planned || 1), 'text'),
    column('Came to', counted, null, 'text'),
    column('Compares', (row) => row.varied.join(', '), (row) => row.varied.join(), 'text'),
    column('Competitions', (row) => row.competitions || '', (row) => row.competitions, 'number'),
    column('Cost', (row) => (row.fault ? '' : dollars(row.cost)), (row) => row.cost, 'number'),
    column('Last', (row) => moment(row.until) ?? '', (row) => row.until, 'number'),
  ],
  words: (row) => [row.name, row.at, row.varied.join(' '), row.fault ?? ''].join(' '),
  empty: 'No experiment is here. podium experiment run makes one.',
});
const runs = runTable({ label: 'Runs', axes: ['scaffold'], chosen, picked, empty: 'No single run is here. podium run makes one.' });

function draw(listing) {
  for (const row of listing.runs) row.arm = { scaffold: row.scaffold };
  experiments.show([...listing.experiments].sort((one, other) => (other.until ?? '').localeCompare(one.until ?? '')));
  runs.show([...listing.runs].sort((one, other) => (other.until ?? '').localeCompare(one.until ?? '')));
  others.hidden = !listing.others.length;
  others.replaceChildren(el('summary', {}, `${many(listing.others.length, 'other entry').replace('entrys', 'entries')} of the folder`),
    el('ul', {}, ...listing.others.map(([name, what]) => el('li', {}, name, el('span', { class: 'soft' }, ` ${what}`)))));
}

const others = el('details', { class: 'others' });
try {
  const listing = await ask('list');
  byId('content').append(
    el('header', { class: 'head' }, el('h1', {}, 'Runs'), el('span', { class: 'sub' }, listing.folder)),
    el('main', {},
      el('section', { 'aria-labelledby': 'of-experiments' }, el('h2', { id: 'of-experiments' }, 'Experiments'), experiments.whole),
      el('section', { 'aria-labelledby': 'of-runs' }, el('h2', { id: 'of-runs' }, 'Single runs ', compare), runs.whole), others));
  draw(listing);
  poll(async () => draw(await ask('list')), 5000);
} catch (error) {
  failed(error);
}
