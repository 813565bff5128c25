// An experiment's report: what came of the plan, rates with their errors, arms beside each other, curves, and what has to
// be disclosed. It draws what the report says and computes no statistic of its own.

const points = (share) => `${share >= 0 ? '+' : '−'}${Math.abs(100 * share).toFixed(1)}`;
const within = (interval) => (interval ? `95 % [${points(interval.low)}, ${points(interval.high)}]` : 'no interval');
const words = (text) => String(text).replaceAll('_', ' ');
const percent = (rate) => (rate ? [rate.mean.toFixed(1), el('small', {}, rate.seeds === 1 ? ' 1 seed' : ` ± ${rate.sem.toFixed(1)}`)] : '');
const known = (value, told) => (value === null || value === undefined ? '' : told(value));

function numbers(label, heads, rows) {
  return el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': label }, el('table', { class: 'numbers', 'aria-label': label },
    el('thead', {}, el('tr', {}, ...heads.map((head) => el('th', { scope: 'col' }, head)))),
    el('tbody', {}, ...rows.map(([first, ...rest]) => el('tr', {}, el('th', { scope: 'row' }, first), ...rest.map((cell) => el('td', {}, cell)))))));
}

function canvas(width, height, label) {
  return svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
}

// A name where there is room for so many letters.
const short = (name, most) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

// Medals of each arm as bars, the error of the sum as a whisker.
function medalBars(table) {
  const [width, row, left] = [640, 40, 170];
  const height = table.rows.length * row + 40;
  const high = Math.min(100, Math.max(10, ...table.rows.map((one) => (one.any_medal.mean + (one.any_medal.sem || 0)) * 1.15)));
  const x = (value) => left + (value / high) * (width - left - 76);
  const out = canvas(width, height, `Medals by arm, ${table.split}`);
  for (const value of ticks(0, high, 6)) {
    out.append(svg('line', { class: 'grid', x1: x(value), x2: x(value), y1: 6, y2: height - 30 }),
      svg('text', { x: x(value), y: height - 14, 'text-anchor': 'middle' }, `${value} %`));
  }
  table.rows.forEach((one, place) => {
    const y = place * row + 10;
    out.append(svg('text', { class: 'strong', x: left - 10, y: y + 16, 'text-anchor': 'end' }, svg('title', {}, one.arm), short(one.arm, 19)));
    let from = 0;
    for (const medal of ['gold', 'silver', 'bronze']) {
      const share = one[medal].mean;
      if (share > 0) {
        const [at, wide] = [x(from), x(from + share) - x(from)];
        out.append(svg('rect', { class: `bar-${medal}`, x: at, y, width: wide, height: 22, rx: 3 }, svg('title', {}, `${one.arm}: ${medal} ${share.toFixed(1)} %`)));
        if (wide > 18) out.append(svg('text', { class: 'inside', x: at + wide / 2, y: y + 15, 'text-anchor': 'middle' }, medal[0].toUpperCase()));
      }
      from += share;
    }
    const { mean, sem, seeds } = one.any_medal;
    if (seeds > 1) out.append(svg('path', { class: 'whisker', d: `M${x(Math.max(0, mean - sem))} ${y + 27}H${x(mean + sem)}m0-3v6M${x(Math.max(0, mean - sem))} ${y + 24}v6` }));
    out.append(svg('text', { x: x(mean + (seeds > 1 ? sem : 0)) + 8, y: y + 16 }, `${mean.toFixed(1)}${seeds > 1 ? ` ± ${sem.toFixed(1)}` : ' · 1 seed'}`));
  });
  return el('div', { class: 'chart' }, out);
}

const VERDICTS = { first_better: (one) => `${one.a} is better`, second_better: (one) => `${one.b} is better`, practically_equal: () => 'practically equal', undecided: () => 'undecided' };

// Differences with both intervals: the thin one for competitions like these, the bold one for exactly these.
function forest(table, equalWithin) {
  const found = table.comparisons;
  const [width, row, left] = [640, 44, 200];
  const height = found.length * row + 44;
  const ends = found.flatMap(({ difference }) => [difference.mean, difference.like_these?.low, difference.like_these?.high, difference.exactly_these?.low, difference.exactly_these?.high]).filter(Number.isFinite);
  const far = Math.max(0.1, ...ends.map(Math.abs)) * 1.1;
  const x = (share) => left + ((share + far) / (2 * far)) * (width - left - 20);
  const out = canvas(width, height, `Differences between arms, ${table.split}`);
  if (equalWithin) out.append(svg('rect', { class: 'equal', x: x(-equalWithin), y: 4, width: x(equalWithin) - x(-equalWithin), height: height - 34 }, svg('title', {}, `practically equal: within ${(100 * equalWithin).toFixed(0)} points`)));
  for (const value of ticks(-far, far, 6)) {
    out.append(svg('line', { class: Math.abs(value) < 1e-9 ? 'zero' : 'grid', x1: x(value), x2: x(value), y1: 4, y2: height - 30 }),
      svg('text', { x: x(value), y: height - 14, 'text-anchor': 'middle' }, Math.abs(value) < 1e-9 ? '0' : points(value).replace('.0', '')));
  }
  found.forEach((one, place) => {
    const y = place * row + 24;
    const { difference } = one;
    const span = (interval, kind, offset) => interval && out.append(svg('path', { class: kind, d: `M${x(interval.low)} ${y + offset}H${x(interval.high)}m0-4v8M${x(interval.low)} ${y + offset - 4}v8` }));
    out.append(svg('text', { class: 'strong', x: left - 12, y: y - 3, 'text-anchor': 'end' }, svg('title', {}, one.a), short(one.a, 26)),
      svg('text', { x: left - 12, y: y + 12, 'text-anchor': 'end' }, svg('title', {}, one.b), `− ${short(one.b, 26)}`));
    span(difference.like_these, 'whisker wide', -5);
    span(difference.exactly_these, 'whisker', 6);
    out.append(svg('circle', { class: 'centre', cx: x(difference.mean), cy: y, r: 4.5 }, svg('title', {}, `${points(difference.mean)} points`)));
  });
  return el('div', { class: 'chart' }, out, el('p', { class: 'note' }, 'Points of any medal, first less second. Upper, grey: 95 % for competitions like these; lower, black: for exactly these. Shaded: practically equal.'));
}

function seedsNeeded(told) {
  if (told === 'more_competitions') return 'no number of seeds will do, add competitions';
  const seeds = told?.seeds ?? told?.Seeds;
  return seeds ? `${seeds} seeds` : 'unknown';
}

function verdicts(table) {
  const told = (one) => {
    const { difference } = one;
    const decided = ['first_better', 'second_better'].includes(one.verdict);
    const labels = one.label_permutation_holm === undefined ? '' : ` (Holm ${one.label_permutation_holm.toFixed(4)})`;
    const most = one.differs_most.map(([name, by]) => `${name} ${points(by)}`).join(' · ');
    const declared = one.declared === undefined ? '5 points' : `${(100 * one.declared).toFixed(0)} points`;
    return el('li', {}, el('span', { class: `verdict${decided ? ' decided' : ''}` }, `${one.a} − ${one.b}: ${VERDICTS[one.verdict]?.(one) ?? words(one.verdict)}`),
      el('p', {}, `${points(difference.mean)} points, ${within(difference.like_these)} for competitions like these, ${within(difference.exactly_these)} for exactly these`),
      el('p', {}, `sign flip p ${one.sign_flip.p.toFixed(4)} (Holm ${one.holm.toFixed(4)}), labels permuted p ${one.label_permutation.p.toFixed(4)}${labels}; wins/ties/losses ${difference.wins}/${difference.ties}/${difference.losses}`),
      el('p', {}, `smallest difference this design can see (80 % power): ${one.detectable === null ? 'unknown, the competitions show no spread' : `${(100 * one.detectable).toFixed(1)} points`}; to see ${declared}: ${seedsNeeded(one.seeds_for_declared ?? one.seeds_for_five_points)}`),
      most && el('p', {}, `differ most: ${most}`), one.left_out?.length > 0 && el('p', {}, `only one of both ran: ${one.left_out.join(', ')}`));
  };
  return el('ul', { class: 'verdicts' }, ...table.comparisons.map(told));
}

const DASHES = [null, '7 4', '2 3', '9 3 2 3', '1 4', '12 4', '5 2 1 2', '3 6'];

// Curves of percentages, one for each arm, told apart by colour, dash and letter. `dim`: drawn thin beside its own.
function curves(label, name, text, lines) {
  const [width, height] = [640, 270];
  const box = { left: 52, right: width - 34, top: 12, bottom: height - 42 };
  const all = lines.flatMap((line) => line.points.concat(line.dim ?? []));
  if (!all.length) return null;
  const far = Math.max(...all.map(([at]) => at), 1e-9);
  const near = Math.min(...all.map(([at]) => at));
  const high = Math.min(100, Math.max(10, ...all.map(([, value]) => value)) * 1.1);
  const x = (at) => box.left + ((at - near) / (far - near || 1)) * (box.right - box.left);
  const y = (value) => box.bottom - (value / high) * (box.bottom - box.top);
  const out = canvas(width, height, label);
  for (const value of ticks(0, high, 5)) {
    out.append(svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(value), y2: y(value) }), svg('text', { x: box.left - 8, y: y(value) + 4, 'text-anchor': 'end' }, `${value} %`));
  }
  for (const value of ticks(near, far, 6)) out.append(svg('text', { x: x(value), y: box.bottom + 17, 'text-anchor': 'middle' }, text(value)));
  out.append(svg('text', { x: (box.left + box.right) / 2, y: height - 6, 'text-anchor': 'middle' }, name));
  lines.forEach((line) => {
    const path = (of) => of.map(([at, value], place) => `${place ? 'L' : 'M'}${x(at)} ${y(value)}`).join('');
    const kind = `line-${line.place % 8}`;
    if (line.dim) out.append(svg('path', { class: `course dim ${kind}`, d: path(line.dim) }, svg('title', {}, `${line.name}, best by test: an oracle's`)));
    out.append(svg('path', { class: `course ${kind}`, 'stroke-dasharray': DASHES[line.place % 8], d: path(line.points) }, svg('title', {}, line.name)));
    const [at, value] = line.points.at(-1);
    out.append(svg('circle', { class: `dot ${kind}`, cx: x(at), cy: y(value), r: 8 }), svg('text', { class: 'letter', x: x(at), y: y(value) + 4, 'text-anchor': 'middle' }, line.letter));
  });
  return el('div', { class: 'chart' }, el('p', { class: 'key' }, ...lines.map((line) => el('span', {}, el('b', { class: 'badge' }, line.letter), ' ', line.name))), out);
}

function allCurves(table) {
  const place = new Map(table.rows.map((one, at) => [one.arm, at]));
  const line = (arm, more) => ({ name: arm, place: place.get(arm) ?? 0, letter: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[place.get(arm) ?? 0] ?? '•', ...more });
  const out = [];
  const passes = table.rows.filter((one) => one.pass_at.length > 1).map((one) => line(one.arm, { points: one.pass_at.map((at) => [at.k, 100 * at.mean]) }));
  if (passes.length) out.push([`Any medal among k runs`, curves('pass@k', 'runs per competition', (k) => (Number.isInteger(k) ? k : ''), passes)]);
  const best = table.rows.filter((one) => one.best_of?.length > 1).map((one) => line(one.arm, { points: one.best_of.map((at) => [at.k, 100 * at.mean]) }));
  if (best.length) out.push(['A medal with the best by validation of k runs', curves('best of k', 'runs per competition', (k) => (Number.isInteger(k) ? k : ''), best)]);
  for (const [over, name] of [['hours', 'hours of run time'], ['dollars', 'dollars']]) {
    const lines = (table.curves ?? []).filter((curve) => curve.over === over && curve.points.length)
      .map((curve) => line(curve.arm, { points: curve.points.map((at) => [at.at, at.handed_in.mean]), dim: curve.points.map((at) => [at.at, at.oracle.mean]) }));
    if (lines.length) out.push([`Any medal over ${name}, by what would have been handed in then (thin: the best by test, an oracle’s)`, curves(`medals over ${name}`, name, (value) => Number(value.toPrecision(3)), lines)]);
  }
  return out.map(([title, chart]) => el('figure', { class: 'curve' }, el('figcaption', {}, el('h3', {}, title)), chart));
}

function tableOf(table, report) {
  const rows = table.rows.map((one) => [one.arm, percent(one.any_medal), percent(one.gold), percent(one.silver), percent(one.bronze), percent(one.above_median), percent(one.valid), percent(one.made),
    known(one.percentile, (value) => value.toFixed(1)), known(one.human_relative, (told) => told.mean.toFixed(3)), dollars(one.spent ? one.spent.cost_of_run : one.cost), (one.spent?.hours_of_run ?? one.hours ?? 0).toFixed(2)]);
  const board = table.baselines ? 'boards of baselines, no people: not to be compared with MLE-bench’s numbers' : 'boards of human teams';
  const part = table.of && table.competitions < table.of ? ` of the split’s ${table.of}` : '';
  const without = table.without_known_issues ?? [];
  return el('section', {}, el('h2', {}, table.split, el('small', {}, `${many(table.competitions, 'competition')}${part}, ${board}`)),
    el('div', { class: 'beside-each' }, medalBars(table), table.comparisons.length ? forest(table, report.equal_within ?? 0.03) : null),
    numbers(`Rates, ${table.split}`, ['arm', 'any medal %', 'gold', 'silver', 'bronze', '> median', 'valid', 'made', 'percentile', 'human-relative', '$/run', 'h/run'], rows),
    el('p', { class: 'note' }, '± is one SEM over seeds, MLE-bench’s convention, and no confidence interval.'),
    table.smallest_p > 0.05 && table.comparisons.length ? el('p', { class: 'note' }, el('b', {}, '! '), `With ${many(table.competitions, 'competition')} the smallest p is ${table.smallest_p.toFixed(3)}: nothing can be significant.`) : null,
    table.comparisons.length ? [el('h3', {}, 'Arms beside each other'), verdicts(table)] : null,
    without.length ? el('p', { class: 'note' }, 'Without competitions of known issues: ', without.map((one) => `${one.arm} ${one.any_medal.mean.toFixed(1)} %`).join(' · ')) : null,
    el('div', { class: 'beside-each' }, ...allCurves(table)));
}

function slices(report) {
  if (!report.slices?.length) return null;
  const arms = [...new Set(report.slices.flatMap((one) => one.arms.map(({ arm }) => arm)))];
  const rows = report.slices.map((one) => [`${words(one.by)}: ${one.value}`, one.competitions, ...arms.map((arm) => percent(one.arms.find((of) => of.arm === arm)?.any_medal))]);
  return el('section', {}, el('h2', {}, 'By what competitions are like', el('small', {}, 'any medal, percent; small numbers, and no comparison')), numbers('By kinds of competitions', ['', 'competitions', ...arms], rows));
}

// Whatever the disclosure counts, in its own words.
function disclosure(report) {
  if (!report.disclosure) return null;
  const told = (value) => {
    if (Array.isArray(value)) return value.length ? value.map(told).join(', ') : 'none';
    if (value && typeof value === 'object') return Object.entries(value).map(([name, count]) => `${words(name)}: ${told(count)}`).join(' · ') || 'none';
    return typeof value === 'number' ? value.toLocaleString('en') : words(value);
  };
  return el('section', {}, el('h2', {}, 'Disclosure', el('small', {}, 'counted from what the runs stored')),
    el('div', { class: 'panel chart' }, el('dl', { class: 'facts wide' }, ...Object.entries(report.disclosure).flatMap(([name, value]) => [el('dt', {}, words(name)), el('dd', {}, told(value))]))));
}

function drawReport(report) {
  const counts = report.counts.map((one) => `${one.runs} ${words(one.outcome)}${one.stopped_by === '-' ? '' : ` (stopped by ${words(one.stopped_by)})`}`).join(' + ');
  const missing = report.missing.slice(0, 10);
  return el('div', { class: 'report' },
    el('p', {}, `${report.planned} planned = ${counts}`),
    ...report.notes.map((note) => el('p', { class: 'note' }, el('b', {}, '! '), note)),
    report.outside > 0 && el('p', { class: 'note' }, el('b', {}, '! '), `${many(report.outside, 'run')} stopped outside the agent; they count as what they had come to.`),
    ...missing.map((one) => el('p', { class: 'note' }, el('b', {}, '! '), `no report, counted as failed: ${one}`)),
    report.missing.length > 10 && el('p', { class: 'note' }, `and ${report.missing.length - 10} more without a report`),
    ...report.tables.map((table) => tableOf(table, report)), slices(report), disclosure(report));
}
