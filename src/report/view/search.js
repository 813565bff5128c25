// A word in all texts of the runs: prompts, answers, code and outputs.

const at = asked.get('at') ?? '';
const word = (asked.get('q') ?? '').trim();
crumbs(at, 'Search');
byId('find').value = word;
const content = byId('content');
content.append(el('header', { class: 'head' }, el('h1', {}, word ? ['“', word, '”'] : 'Search'), el('span', { class: 'sub' }, at ? `in ${at}` : 'in all runs')));

function hit(run, one) {
  const open = one.number === null ? one.key : link('run', { at: run.at, '#': `node=${one.number}` }, one.key);
  return el('li', {}, el('span', { class: 'where' }, open, el('span', { class: 'soft' }, ` ${one.effect}`)),
    el('code', {}, '…', one.before, el('mark', {}, one.found), one.after, '…'));
}

function found(run) {
  const name = link('run', { at: run.at }, run.at || 'this run');
  const count = run.fault ? el('span', { class: 'fate bad' }, `✕ ${run.fault}`) : el('span', { class: 'soft' }, `${many(run.hits.length, 'place')}${run.more ? ' and more' : ''}`);
  return el('section', { class: 'found' }, el('h2', {}, name, ' ', count), el('ul', { class: 'hits' }, ...run.hits.map((one) => hit(run, one))));
}

if (!word) {
  content.append(el('p', { class: 'empty' }, 'Write a word above: prompts, answers, code and outputs are looked through. Letters match in either case.'));
} else {
  const waiting = el('p', { class: 'soft', role: 'status' }, 'Looking …');
  content.append(waiting);
  try {
    const told = await ask('search', { at, q: word });
    const all = told.runs.reduce((sum, run) => sum + run.hits.length, 0);
    const reach = told.searched === told.of ? many(told.of, 'run') : `${told.searched} of ${many(told.of, 'run')}: it would have taken too long`;
    waiting.replaceChildren(`${all ? many(all, 'place') : 'Nothing found'}; looked through ${reach}.`);
    content.append(el('main', {}, ...told.runs.map(found)));
  } catch (error) {
    failed(error);
  }
}
