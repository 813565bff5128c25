// Tables of runs: filtered by a word, sorted by a column, in pages, so that a thousand runs are as quick as ten.

const PAGE = 100;

// A column: its heading, what stands in a cell, what it is sorted by (none: it is not), and its alignment.
function column(name, shows, sorts, kind) {
  return { name, shows, sorts, kind };
}

const blank = (value) => value === null || value === undefined || Number.isNaN(value);

function ordered(rows, by, down) {
  const keyed = rows.map((row) => [by(row), row]);
  keyed.sort(([one], [other]) => {
    // What is not known stands last, whichever way.
    if (blank(one) || blank(other)) return blank(one) - blank(other);
    const order = typeof one === 'string' ? one.localeCompare(other, 'en', { numeric: true }) : one - other;
    return down ? -order : order;
  });
  return keyed.map(([, row]) => row);
}

// `words`: what of a row a filter looks through. `empty`: what is said where there is nothing.
function makeTable({ label, columns, words, empty, filters = true }) {
  const state = { rows: [], word: '', by: null, down: false, page: 0 };
  const body = el('tbody', {});
  const count = el('span', { class: 'count', role: 'status' });
  const pages = el('div', { class: 'pages' });
  const heads = columns.map((one) => {
    const turn = () => {
      state.down = state.by === one ? !state.down : one.kind === 'number';
      state.by = one;
      state.page = 0;
      draw();
    };
    const name = one.sorts ? el('button', { type: 'button', onclick: turn }, one.name, el('span', { class: 'arrow', 'aria-hidden': true })) : one.name;
    return el('th', { scope: 'col', class: one.kind }, name);
  });
  const filter = el('input', { type: 'search', class: 'filter', placeholder: 'Filter', 'aria-label': `Filter ${label}` });
  filter.addEventListener('input', () => { state.word = filter.value.trim().toLowerCase(); state.page = 0; draw(); });
  const table = el('table', { class: 'rows', 'aria-label': label }, el('thead', {}, el('tr', {}, ...heads)), body);
  const bar = el('div', { class: 'table-bar' }, filters && filter, count);
  const whole = el('div', { class: 'table' }, filters && bar, el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': label }, table), pages);

  function draw() {
    const wanted = state.word.split(/\s+/).filter(Boolean);
    let rows = wanted.length ? state.rows.filter((row) => { const text = words(row).toLowerCase(); return wanted.every((word) => text.includes(word)); }) : state.rows;
    if (state.by) rows = ordered(rows, state.by.sorts, state.down);
    const last = Math.max(0, Math.ceil(rows.length / PAGE) - 1);
    state.page = Math.min(state.page, last);
    const seen = rows.slice(state.page * PAGE, (state.page + 1) * PAGE);
    columns.forEach((one, place) => {
      const pressed = one === state.by;
      heads[place].setAttribute('aria-sort', pressed ? (state.down ? 'descending' : 'ascending') : 'none');
    });
    body.replaceChildren(...seen.map((row) => el('tr', { 'data-at': row.at ?? null },
      ...columns.map((one) => el('td', { class: one.kind }, one.shows(row))))));
    if (!rows.length) body.append(el('tr', {}, el('td', { colspan: columns.length, class: 'empty' }, state.rows.length ? 'Nothing matches.' : empty)));
    count.replaceChildren(rows.length === state.rows.length ? many(rows.length, 'row') : `${rows.length.toLocaleString('en')} of ${many(state.rows.length, 'row')}`);
    const go = (to, text) => el('button', { type: 'button', class: 'tool', disabled: to < 0 || to > last, onclick: () => { state.page = to; draw(); } }, text);
    pages.replaceChildren(...(last ? [go(state.page - 1, '← Before'), `page ${state.page + 1} of ${last + 1}`, go(state.page + 1, 'After →')] : []));
  }

  return { whole, show: (rows) => { state.rows = rows; draw(); } };
}

// The columns of runs. `axes`: what tells the arms of an experiment apart. `chosen`: the runs picked for a comparison.
function runTable({ label, axes, chosen, picked, empty }) {
  // The end of a name in an experiment is the beginning of the run's identity: its axes say more.
  const whole = (row) => row.at.split('/').at(-1) || row.at || 'this run';
  const name = (row) => whole(row).replace(/-[0-9a-f]{10}$/, '');
  const pick = (row) => {
    if (row.state === 'not_begun' || row.state === 'damaged') return '';
    const box = el('input', { type: 'checkbox', 'aria-label': `Compare ${name(row)}`, checked: chosen.has(row.at) });
    box.addEventListener('change', () => { if (box.checked) chosen.add(row.at); else chosen.delete(row.at); picked(); });
    return box;
  };
  const opens = (row) => (row.state === 'not_begun' ? el('span', { class: 'soft' }, name(row)) : link('run', { at: row.at }, name(row)));
  const state = (row) => [fateMark(row), row.fault && el('div', { class: 'fault' }, row.fault)];
  const columns = [
    column('', pick, null, 'pick'),
    column('Run', opens, name, 'name'),
    ...axes.map((axis) => column(axis, (row) => row.arm[axis] ?? '', (row) => row.arm[axis], 'text')),
    column('Competition', (row) => row.competition, (row) => row.competition, 'text'),
    column('Seed', (row) => row.seed ?? '', (row) => row.seed, 'number'),
    column('State', state, (row) => fate(row)[1], 'text'),
    column('Medal', (row) => medalChip(row.medal) ?? '', (row) => ['bronze', 'silver', 'gold'].indexOf(row.medal), 'text'),
    column('Test', (row) => (row.score === null ? '' : score(Number(row.score))), (row) => (row.score === null ? null : Number(row.score)), 'number'),
    column('Validation', (row) => (row.validation === null ? '' : score(Number(row.validation))), (row) => (row.validation === null ? null : Number(row.validation)), 'number'),
    column('Beats', (row) => (row.percentile === null ? '' : `${row.percentile.toFixed(0)} %`), (row) => row.percentile, 'number'),
    column('Nodes', (row) => row.nodes?.toLocaleString('en') ?? '', (row) => row.nodes, 'number'),
    column('Run time', (row) => (row.run_ms === null ? '' : duration(row.run_ms)), (row) => row.run_ms, 'number'),
    column('Cost', (row) => (row.outcome === null ? '' : dollars(row.cost)), (row) => row.cost, 'number'),
    column('Last', (row) => moment(row.until) ?? '', (row) => row.until, 'number'),
  ];
  const words = (row) => [row.at, row.scaffold, row.competition, row.models.join(' '), ...Object.values(row.arm), fate(row)[1], row.medal ?? '', row.fault ?? ''].join(' ');
  return makeTable({ label, columns, words, empty });
}
