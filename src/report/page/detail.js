// One node or step in full: read when it is opened, drawn tab by tab.

function titled(title, ...content) {
  return [el('h3', {}, title), ...content];
}

function factList(pairs) {
  const rows = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return el('dl', { class: 'facts' }, ...rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}

function told(verdict) {
  if (!verdict) return null;
  if (verdict.verdict === 'valid') return verdict.copies_sample ? 'valid; a copy of the sample submission' : 'valid';
  return verdict.verdict === 'invalid' ? `invalid: ${verdict.reason}` : `none: ${verdict.found}`;
}

function signalTable(detail) {
  if (!detail.signals.length) return [];
  const rows = detail.signals.map(({ source, value, spread }) => {
    const counts = source === detail.metric_source;
    return el('tr', { class: counts ? 'counts' : null }, el('td', {}, source), el('td', {}, score(number(value))),
      el('td', {}, spread === null ? '' : `± ${score(number(spread))}`), el('td', {}, counts ? 'counts' : ''));
  });
  const head = el('tr', {}, ...['signal', 'reading', 'spread', ''].map((name) => el('th', { scope: 'col' }, name)));
  return titled('Readings of the metric', el('table', { class: 'signals' }, el('thead', {}, head), el('tbody', {}, ...rows)));
}

function overview(item, detail) {
  // What was said, done and seen stands in the log.
  if (unit === 'step') return el('div', { class: 'body', tabindex: 0 }, stepFacts(item, detail));
  return el('div', { class: 'body', tabindex: 0 },
    detail.buggy && el('div', { class: 'callout' }, detail.buggy),
    detail.flags.length > 0 && el('div', { class: 'callout' }, detail.flags.join('\n')),
    titled('Plan', el('div', { class: 'prose', dir: 'auto' }, detail.plan || 'none')),
    detail.review && titled('Review', el('div', { class: 'prose', dir: 'auto' }, detail.review)),
    detail.reason && titled('Why the policy asked for it', el('div', { class: 'prose' }, detail.reason)),
    signalTable(detail),
    titled('Facts', stepFacts(item, detail)));
}

function stepFacts(item, detail) {
  const ran = detail.executions.reduce((sum, one) => sum + one.wall_ms, 0);
  return factList([
    ['submission', told(detail.submission)],
    ['executed', detail.executions.length ? duration(ran) : unit === 'step' ? null : 'never'],
    ['model', detail.calls.length ? `${duration(detail.model_ms)} in ${many(detail.calls.length, 'call')}` : 'no call'],
    ['waited', detail.waited_ms ? `${duration(detail.waited_ms)} for a service` : null],
    ['tokens', `${detail.input_tokens.toLocaleString('en')} in, ${detail.output_tokens.toLocaleString('en')} out`],
    ['cost', dollars(detail.cost)],
    ['run time', `${detail.begun_ms === null ? '' : `from ${duration(detail.begun_ms)} `}until ${duration(item.at_ms)}`],
    ['files', detail.folder && `${story.run}/${detail.folder}`],
  ]);
}

let wantsDiff = true;

function codeTab(item, detail, former) {
  const body = el('div', { class: 'body flush', tabindex: 0 });
  const draw = () => {
    const strip = el('div', { class: 'strip' });
    body.replaceChildren(strip);
    if (former && former.code && wantsDiff) {
      const { table, added, removed } = diffTable(former.code, detail.code);
      const same = !added && !removed;
      strip.append(modes(), el('span', {}, same ? 'the same script' : `${many(added, 'line')} added, ${removed} removed`));
      body.append(table);
    } else {
      strip.append(former && former.code ? modes() : '', el('span', {}, many(detail.code.split('\n').length, 'line')));
      body.append(wholeScript(detail.code));
    }
  };
  const modes = () => choice('How the script is shown', [['diff', `Changes to ${unit} ${item.parent.id}`], ['whole', 'Whole script']],
    wantsDiff ? 'diff' : 'whole', (wanted) => { wantsDiff = wanted === 'diff'; draw(); });
  draw();
  return body;
}

function outputTab(item, detail) {
  const blocks = detail.executions.map((one) => [
    el('h3', {}, one.command ? `$ ${one.command}` : one.key),
    factList([
      ['ended', one.ended],
      ['took', duration(one.wall_ms) + (one.cpu_ms === null ? '' : `, ${duration(one.cpu_ms)} of processors`)],
      ['memory', one.peak_bytes === null ? null : `${bytes(one.peak_bytes)} at its peak`],
      ['stopped', one.blocked.join(', ')],
    ]),
    el('pre', { class: 'screen' }, one.output || '(nothing)'),
  ]);
  return el('div', { class: 'body', tabindex: 0 }, blocks.length ? blocks : el('p', { class: 'empty' }, 'It was never executed.'));
}

function callsTab(item, detail) {
  const blocks = detail.calls.map((call) => {
    const tokens = `${call.input_tokens.toLocaleString('en')} + ${call.output_tokens.toLocaleString('en')} tokens`;
    const summary = el('summary', {}, call.key, el('small', {}, `${call.role} · ${call.model} · ${duration(call.took_ms)} · ${tokens} · ${dollars(call.cost)}`));
    const block = el('details', {}, summary);
    const speak = (who, text) => [el('p', { class: 'speaker' }, who), el('pre', { class: 'screen' }, text)];
    block.addEventListener('toggle', () => {
      if (!block.open || block.childElementCount > 1) return;
      const turns = call.messages.flatMap(([who, text]) => speak(who, text));
      if (call.reasoning) turns.push(...speak('thought', call.reasoning));
      if (call.answer !== null) turns.push(...speak('answer', call.answer));
      block.append(...(turns.length ? turns : [el('p', { class: 'empty' }, story.left_out ?? 'No texts.')]));
    });
    return block;
  });
  if (story.left_out) blocks.unshift(el('p', { class: 'empty' }, story.left_out));
  return el('div', { class: 'body', tabindex: 0 }, blocks.length ? blocks : el('p', { class: 'empty' }, 'No model was called.'));
}

const TABS = [['overview', 'Overview', overview], ['code', 'Code', codeTab], ['output', 'Output', outputTab], ['calls', 'Calls', callsTab]];
let tab = 'overview';

function heading(item, opened) {
  const link = (other) => el('button', { onclick: () => opened(other), title: inWords(other) }, String(other.id));
  const parents = item.parents.map((id) => byNumber.get(id)).filter(Boolean);
  const chips = [el('span', { class: 'chip' }, item.operator)];
  if (item.handed) chips.push(el('span', { class: 'chip handed' }, '★ handed in'));
  if (item.record && !item.handed) chips.push(el('span', { class: 'chip' }, '▲ best so far'));
  if (!item.good) chips.push(el('span', { class: 'chip bad' }, unit === 'step' ? '✕ failed' : '✕ buggy'));
  chips.push(el('span', { class: 'chip' }, item.valid ? 'valid submission' : 'no valid submission'));
  const metric = item.metric === null ? null : el('div', { class: 'number' }, score(item.metric));
  let delta = item.metric === null ? null : `validation ${story.metric}, ${story.direction} is better`;
  if (item.metric !== null && item.parent?.good && item.parent.metric !== null) {
    const ahead = lead(item.metric, item.parent.metric);
    const how = ahead > 0 ? `${score(ahead)} better than` : ahead < 0 ? `${score(-ahead)} worse than` : 'the same as';
    delta += `; ${how} ${unit} ${item.parent.id}`;
  }
  const kin = el('div', { class: 'kin' });
  if (parents.length) kin.append('made from ', ...parents.map(link));
  if (item.children.length) kin.append(parents.length ? ' · children ' : 'children ', ...item.children.map(link));
  return el('div', { class: 'top' }, el('h2', {}, `${unit === 'step' ? 'Step' : 'Node'} ${item.id}`), ...chips, metric,
    delta && el('div', { class: 'delta' }, delta), kin);
}

function makeDetail(place, opened) {
  let current = null;
  const show = async () => {
    const wanted = current;
    const parent = wanted.parent && tab === 'code' ? detailOf(wanted.parent.id) : null;
    let detail = null;
    let former = null;
    try {
      [detail, former] = await Promise.all([detailOf(wanted.id), parent]);
    } catch (error) {
      if (current === wanted) place.replaceChildren(heading(wanted, opened), el('p', { class: 'empty warn' }, `It cannot be shown: ${error.message}`));
      return;
    }
    if (current !== wanted) return;
    const tabs = TABS.filter(([name]) => (name === 'code' ? detail.code : name !== 'output' || unit === 'node' || detail.executions.length));
    if (!tabs.some(([name]) => name === tab)) tab = 'overview';
    const bar = el('div', { class: 'tabs' }, choice('What is shown', tabs.map(([name, text]) => [name, name === 'overview' && unit === 'step' ? 'Facts' : text]), tab, turn));
    place.replaceChildren(heading(current, opened), bar, TABS.find(([name]) => name === tab)[2](current, detail, former));
  };
  const turn = (wanted) => { tab = wanted; if (current) show(); };
  return {
    show: (item) => { current = item; show(); },
    turn: (place_) => { const wanted = TABS[place_]; if (wanted) turn(wanted[0]); },
    swap: () => { wantsDiff = !wantsDiff; if (current) show(); },
    empty: () => place.replaceChildren(el('p', { class: 'empty' }, 'Nothing has finished yet.')),
  };
}
