// Python in colours, and the difference of two scripts by lines.

const WORDS = new Set(('False None True and as assert async await break class continue def del elif else except ' +
  'finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield').split(' '));
const TOKEN = /(#.*)|([rbfuRBFU]{0,2}(?:"""|'''))|([rbfuRBFU]{0,2}"(?:\\.|[^"\\])*"?|[rbfuRBFU]{0,2}'(?:\\.|[^'\\])*'?)|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;

// The lines of a script as nodes. Strings over several lines are followed; nothing else has a memory.
function highlighted(text) {
  let open = null;
  return text.split('\n').map((line) => {
    const out = document.createDocumentFragment();
    const put = (kind, piece) => { if (piece) out.append(kind ? el('span', { class: `t-${kind}` }, piece) : shown(piece)); };
    let at = 0;
    let named = false;
    while (at <= line.length) {
      if (open) {
        const end = line.indexOf(open, at);
        put('string', line.slice(at, end < 0 ? undefined : end + 3));
        if (end < 0) break;
        at = end + 3;
        open = null;
      }
      TOKEN.lastIndex = at;
      const hit = TOKEN.exec(line);
      put(null, line.slice(at, hit ? hit.index : undefined));
      if (!hit) break;
      at = hit.index + hit[0].length;
      const [whole, note, triple, string, digits, word] = hit;
      if (triple) { open = triple.slice(-3); put('string', triple); continue; }
      const kind = note ? 'note' : string ? 'string' : digits ? 'number' : WORDS.has(word) ? 'word' : named ? 'name' : null;
      put(kind, whole);
      named = word === 'def' || word === 'class';
    }
    return out;
  });
}

// Edits that lead from one list of lines to another, the shortest ones (E. W. Myers, "An O(ND) difference algorithm and
// its variations", Algorithmica 1, 1986): [' ' | '-' | '+', index in old, index in new]. Scripts that have little in
// common are told as removed and added whole: nobody reads such a difference, and it would take long.
function difference(old, fresh) {
  const MOST = 1500;
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const a = old.slice(head, old.length - tail);
  const b = fresh.slice(head, fresh.length - tail);
  const edits = [];
  for (let i = 0; i < head; i++) edits.push([' ', i, i]);
  edits.push(...middle(a, b, MOST).map(([sign, i, j]) => [sign, i + head, j + head]));
  for (let i = tail; i > 0; i--) edits.push([' ', old.length - i, fresh.length - i]);
  return edits;
}

function middle(a, b, most) {
  const whole = () => [...a.map((_, i) => ['-', i, 0]), ...b.map((_, j) => ['+', a.length, j])];
  if (!a.length || !b.length) return whole();
  const limit = Math.min(a.length + b.length, most);
  let reach = new Map([[1, 0]]);
  const trail = [];
  for (let d = 0; d <= limit; d++) {
    trail.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? reach.get(k + 1) ?? 0 : reach.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && x - k >= 0 && a[x] === b[x - k]) x++;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return backwards(a, b, trail, d);
    }
  }
  return whole();
}

function backwards(a, b, trail, depth) {
  const edits = [];
  let [x, y] = [a.length, b.length];
  for (let d = depth; d >= 0; d--) {
    const reach = trail[d];
    const k = x - y;
    const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const before = down ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : reach.get(before) ?? 0;
    const fromY = d === 0 ? 0 : fromX - before;
    while (x > fromX && y > fromY) edits.push([' ', --x, --y]);
    if (d > 0) edits.push(down ? ['+', x, --y] : ['-', --x, y]);
  }
  return edits.reverse();
}

function row(sign, before, after, content) {
  const kind = { '+': 'added', '-': 'removed' }[sign];
  const cells = [el('td', { class: 'at' }, before), after === null ? null : el('td', { class: 'at' }, after)];
  if (after !== null) cells.push(el('td', { class: 'sign', 'aria-label': kind }, sign === '-' ? '−' : sign));
  return el('tr', { class: kind }, ...cells, el('td', {}, content));
}

function wholeScript(text) {
  const lines = highlighted(text).map((line, place) => row(' ', place + 1, null, line));
  return el('table', { class: 'code' }, el('tbody', {}, ...lines));
}

// The difference as a table; unchanged lines far from a change are folded.
function diffTable(oldText, freshText) {
  const [old, fresh] = [oldText.split('\n'), freshText.split('\n')];
  const [oldLines, freshLines] = [highlighted(oldText), highlighted(freshText)];
  const edits = difference(old, fresh);
  const near = new Set();
  edits.forEach(([sign], place) => {
    if (sign !== ' ') for (let i = place - 3; i <= place + 3; i++) near.add(i);
  });
  const line = ([sign, i, j]) =>
    row(sign, sign === '+' ? '' : i + 1, sign === '-' ? '' : j + 1, (sign === '-' ? oldLines[i] : freshLines[j]).cloneNode(true));
  const body = el('tbody', {});
  for (let place = 0; place < edits.length;) {
    if (near.has(place)) { body.append(line(edits[place++])); continue; }
    const folded = [];
    while (place < edits.length && !near.has(place)) folded.push(edits[place++]);
    const fold = el('tr', { class: 'fold' });
    const unfold = () => fold.replaceWith(...folded.map(line));
    fold.append(el('td', { colspan: 4 }, el('button', { onclick: unfold }, `⋯ ${many(folded.length, 'unchanged line')}`)));
    body.append(fold);
  }
  const count = (wanted) => edits.filter(([sign]) => sign === wanted).length;
  return { table: el('table', { class: 'code' }, body), added: count('+'), removed: count('-') };
}
