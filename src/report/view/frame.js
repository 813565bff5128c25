// What all pages of the viewer share: asking the server, colours, the way back, marks for what became of a run.

if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark');

// Asks the viewer's server. What it refuses is told in its words.
async function ask(path, parameters) {
  const query = new URLSearchParams(Object.entries(parameters ?? {}).filter(([, value]) => value !== null && value !== undefined));
  const answer = await fetch(`/api/${path}?${query}`);
  const text = await answer.text();
  let document_ = null;
  try { document_ = JSON.parse(text); } catch { /* told below */ }
  if (!answer.ok) throw new Error(document_?.error ?? (text.trim().slice(0, 300) || `the server said ${answer.status}`));
  return document_;
}

const asked = new URLSearchParams(location.search);

function link(page, parameters, ...content) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) for (const one of [value].flat()) query.append(name, one);
  const hash = parameters['#'];
  query.delete('#');
  return el('a', { href: `/${page}?${query}${hash ? `#${hash}` : ''}` }, ...content);
}

// Where the reader is. `at`: a folder below the served one.
function crumbs(at, ...more) {
  const parts = at ? at.split('/') : [];
  const out = [];
  if (parts.length > 1) out.push(link('experiment', { at: parts[0] }, parts[0]), parts[1]);
  else if (parts.length) out.push(parts[0]);
  out.push(...more);
  byId('crumbs').replaceChildren(...out.map((part) => el('span', { class: 'crumb' }, part)));
  byId('find-at').value = at ?? '';
  byId('find-at').disabled = !at;
  if (at) byId('find').placeholder = `Search in ${parts.at(-1)}`;
}

// Says what went wrong where the content would be.
function failed(error, place) {
  (place ?? byId('content')).replaceChildren(el('div', { class: 'trouble', role: 'alert' },
    el('h1', {}, 'This cannot be shown'), el('p', {}, error.message), el('p', {}, el('a', { href: '/' }, 'All runs'))));
}

// Calls `again` every so often while somebody looks; a server that is away is asked less and less.
function poll(again, every) {
  let wait = every;
  const turn = async () => {
    if (!document.hidden) {
      try { if (await again() === false) return; wait = every; } catch { wait = Math.min(wait * 2, 60_000); }
    }
    setTimeout(turn, wait);
  };
  setTimeout(turn, wait);
}

// What became of a run: a mark, a word, and what it counts as.
function fate(row) {
  if (row.state === 'damaged') return ['✕', 'damaged', 'bad'];
  if (row.state === 'not_begun') return ['○', 'not begun', 'soft'];
  if (row.state === 'going_on') return ['◐', 'going on', 'now'];
  if (row.state === 'cut') return ['◌', 'cut off', 'warn'];
  const outcome = (row.outcome ?? 'ended').replaceAll('_', ' ');
  if (row.state === 'stopped') return ['◍', `${outcome}, stopped by ${String(row.stopped_by).replaceAll('_', ' ')}`, 'warn'];
  if (row.outcome === 'graded') return ['●', 'graded', 'good'];
  if (row.outcome === 'no_answers') return ['●', outcome, 'good'];
  return ['✕', outcome, 'bad'];
}

function fateMark(row) {
  const [mark, word, kind] = fate(row);
  return el('span', { class: `fate ${kind}` }, el('span', { 'aria-hidden': true }, mark), ' ', word);
}

function medalChip(medal) {
  return medal ? el('span', { class: `medal ${medal}` }, medal) : null;
}

// A moment as the reader's clock shows it, and how long ago that is.
function moment(text) {
  const at = text ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) return null;
  const s = Math.max(0, (Date.now() - at) / 1000);
  const ago = s < 90 ? `${Math.round(s)} s ago` : s < 5400 ? `${Math.round(s / 60)} min ago` : s < 129_600 ? `${Math.round(s / 3600)} h ago` : null;
  const local = new Date(at);
  const day = `${local.getFullYear()}-${String(local.getMonth() + 1).padStart(2, '0')}-${String(local.getDate()).padStart(2, '0')}`;
  return el('time', { datetime: text, title: local.toLocaleString('en') }, ago ?? day);
}

function card(title, value, under) {
  return el('div', { class: 'figure' }, el('h3', {}, title), el('div', { class: 'value' }, value), under && el('div', { class: 'under' }, under));
}

addEventListener('keydown', (event) => {
  const at = event.target instanceof Element ? event.target : document.body;
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || at.closest('input, dialog, select')) return;
  if (document.getElementById('jump')) return;
  event.preventDefault();
  byId('find').focus();
});
