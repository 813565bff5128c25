// An experiment's report: what came of the plan, rates with their errors, arms beside each other, curves, and what has to
// be disclosed. Every cell and every line stands as the program wrote it; here it is laid out, and numbers become plots.

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const ARM_DASHES = [null, '7 4', '2 3', '9 3 2 3', '1 4', '12 4', '5 2 1 2', '3 6'];
const letter = (arm) => LETTERS[arm] ?? '•';
const ofArm = (arm) => `line-${arm % 8}`;
// A narrow window has narrow plots, so that their letters stay readable.
const WIDE = innerWidth >= 640;
const [WIDTH, LEFT] = WIDE ? [640, 170] : [370, 104];
const LETTERS_LEFT = WIDE ? 19 : 13;
const points = (value) => `${value >= 0 ? '+' : '−'}${Math.abs(value).toFixed(1)}`;

// Wider than a small window: it can be reached and moved by keys then.
function scrolling(label, ...content) {
  return el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': label }, ...content);
}

function numbers(label, { heads, rows }) {
  return scrolling(label, el('table', { class: 'numbers', 'aria-label': label },
    el('thead', {}, el('tr', {}, ...heads.map((head) => el('th', { scope: 'col' }, head)))),
    el('tbody', {}, ...rows.map(([first, ...rest]) => el('tr', {}, el('th', { scope: 'row' }, first), ...rest.map((cell) => el('td', {}, cell)))))));
}

function canvas(width, height, label) {
  return svg('svg', { class: WIDE ? null : 'narrow', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
}

function chart(title, label, out, ...more) {
  return el('figure', { class: 'curve' }, el('figcaption', {}, el('h3', {}, title)),
    el('div', { class: 'chart', tabindex: 0, role: 'group', 'aria-label': label }, out), ...more);
}

// A name where there is room for so many letters.
const short = (name, most) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

// Medals of each arm as bars, the error of their sum as a whisker.
function medalBars(part) {
  const [width, row, left] = [WIDTH, 40, LEFT];
  const height = part.arms.length * row + 40;
  const high = Math.min(100, Math.max(10, ...part.medals.map((one) => (one.any + (one.sem ?? 0)) * 1.15)));
  const x = (value) => left + (value / high) * (width - left - 76);
  const out = canvas(width, height, `Medals by arm, ${part.title}`);
  for (const value of ticks(0, high, WIDE ? 6 : 3)) {
    out.append(svg('line', { class: 'grid', x1: x(value), x2: x(value), y1: 6, y2: height - 30 }),
      svg('text', { x: x(value), y: height - 14, 'text-anchor': 'middle' }, `${value} %`));
  }
  part.medals.forEach(({ shares, any, sem }, place) => {
    const y = place * row + 10;
    out.append(svg('text', { class: 'strong', x: left - 10, y: y + 16, 'text-anchor': 'end' }, svg('title', {}, part.arms[place]), short(part.arms[place], LETTERS_LEFT)));
    let from = 0;
    shares.forEach((share, kind) => {
      if (!(share > 0)) return;
      const medal = ['gold', 'silver', 'bronze'][kind];
      const [at, wide] = [x(from), x(from + share) - x(from)];
      out.append(svg('rect', { class: `bar-${medal}`, x: at, y, width: wide, height: 22, rx: 3 }, svg('title', {}, `${part.arms[place]}: ${medal} ${share.toFixed(1)} %`)));
      if (wide > 18) out.append(svg('text', { class: 'inside', x: at + wide / 2, y: y + 15, 'text-anchor': 'middle' }, medal[0].toUpperCase()));
      from += share;
    });
    if (sem !== null) out.append(svg('path', { class: 'whisker', d: `M${x(Math.max(0, any - sem))} ${y + 27}H${x(any + sem)}m0-3v6M${x(Math.max(0, any - sem))} ${y + 24}v6` }));
    out.append(svg('text', { x: x(any + (sem ?? 0)) + 8, y: y + 16 }, part.rates.rows[place][1]));
  });
  return chart('Medals', `Medals by arm, ${part.title}`, out);
}

// Differences with both intervals: the upper for competitions like these, the lower for exactly these.
function forest(part) {
  const found = part.differences;
  if (!found.length) return null;
  const [width, row, left] = [WIDTH, 44, WIDE ? 200 : LEFT];
  const height = found.length * row + 44;
  const ends = found.flatMap((one) => [one.mean, ...(one.like_these ?? []), ...(one.exactly_these ?? [])]).filter(Number.isFinite);
  const far = Math.max(10, part.equal_within, ...ends.map(Math.abs)) * 1.1;
  const x = (value) => left + ((value + far) / (2 * far)) * (width - left - 20);
  const out = canvas(width, height, `Differences between arms, ${part.title}`);
  const equal = part.equal_within;
  out.append(svg('rect', { class: 'equal', x: x(-equal), y: 4, width: x(equal) - x(-equal), height: height - 34 }, svg('title', {}, `practically equal: within ${equal} points`)));
  for (const value of ticks(-far, far, WIDE ? 6 : 3)) {
    const middle = Math.abs(value) < 1e-9;
    out.append(svg('line', { class: middle ? 'zero' : 'grid', x1: x(value), x2: x(value), y1: 4, y2: height - 30 }),
      svg('text', { x: x(value), y: height - 14, 'text-anchor': 'middle' }, middle ? '0' : points(value).replace('.0', '')));
  }
  found.forEach((one, place) => {
    const y = place * row + 24;
    const span = (interval, kind, offset) => interval && out.append(svg('path', { class: kind, d: `M${x(interval[0])} ${y + offset}H${x(interval[1])}m0-4v8M${x(interval[0])} ${y + offset - 4}v8` }));
    out.append(svg('text', { class: 'strong', x: left - 12, y: y - 3, 'text-anchor': 'end' }, svg('title', {}, one.a), short(one.a, WIDE ? 26 : LETTERS_LEFT)),
      svg('text', { x: left - 12, y: y + 12, 'text-anchor': 'end' }, svg('title', {}, one.b), `− ${short(one.b, WIDE ? 26 : LETTERS_LEFT)}`));
    span(one.like_these, 'whisker wide', -5);
    span(one.exactly_these, 'whisker', 6);
    out.append(svg('circle', { class: 'centre', cx: x(one.mean), cy: y, r: 4.5 }, svg('title', {}, `${points(one.mean)} points: ${one.verdict}`)));
  });
  return chart('Differences in points of any medal, first less second', `Differences between arms, ${part.title}`, out,
    el('p', { class: 'note' }, 'Upper, grey: 95 % for competitions like these. Lower, black: for exactly these. Shaded: practically equal.'));
}

// Which colour, dash and letter is which arm's.
function key(arms, names) {
  return el('p', { class: 'key' }, ...arms.map((arm) => el('span', {}, el('b', { class: 'badge' }, letter(arm)), ' ', names[arm])));
}

// Curves of percentages, one for each arm; the oracle's drawn thin beside its own, an interval as a band.
function curve(plot, part) {
  const [width, height] = [WIDTH, 270];
  const box = { left: 52, right: width - 34, top: 12, bottom: height - 42 };
  const all = plot.lines.flatMap((line) => [...line.points, ...line.oracle, ...line.band.flatMap((one, place) => (one ? one.map((end) => [line.points[place][0], end]) : []))]);
  const ats = all.map(([at]) => at);
  let [near, far] = [plot.whole ? Math.min(...ats) : 0, Math.max(...ats)];
  if (!(far > near)) [near, far] = [near - 1, far + 1];
  const high = Math.min(100, Math.max(10, ...all.map(([, value]) => value)) * 1.1);
  const x = (at) => box.left + ((at - near) / (far - near)) * (box.right - box.left);
  const y = (value) => box.bottom - (value / high) * (box.bottom - box.top);
  const out = canvas(width, height, `${plot.title}, ${part.title}`);
  for (const value of ticks(0, high, 5)) {
    out.append(svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(value), y2: y(value) }), svg('text', { x: box.left - 8, y: y(value) + 4, 'text-anchor': 'end' }, `${value} %`));
  }
  for (const value of ticks(near, far, WIDE ? 6 : 4)) {
    if (plot.whole && (!Number.isInteger(value) || !ats.includes(value))) continue;
    out.append(svg('text', { x: x(value), y: box.bottom + 17, 'text-anchor': 'middle' }, String(Number(value.toPrecision(3)))));
  }
  out.append(svg('text', { x: (box.left + box.right) / 2, y: height - 6, 'text-anchor': 'middle' }, plot.over));
  // Arms that stand on one point are set apart.
  const apart = (line, place) => (line.points.length > 1 ? 0 : (place - (plot.lines.length - 1) / 2) * 26);
  const path = (of) => of.map(([at, value], place) => `${place ? 'L' : 'M'}${x(at)} ${y(value)}`).join('');
  plot.lines.forEach((line, place) => {
    const shift = apart(line, place);
    line.band.forEach((one, at) => {
      if (one) out.append(svg('path', { class: `band ${ofArm(line.arm)}`, d: `M${x(line.points[at][0]) + shift} ${y(one[0])}V${y(one[1])}m-4 0h8m-4 0M${x(line.points[at][0]) + shift - 4} ${y(one[0])}h8` }, svg('title', {}, `${part.arms[line.arm]}: 95 % over competitions, ${one[0].toFixed(1)} to ${one[1].toFixed(1)}`)));
    });
  });
  plot.lines.forEach((line, place) => {
    const shift = apart(line, place);
    if (line.oracle.length) out.append(svg('path', { class: `course dim ${ofArm(line.arm)}`, d: path(line.oracle) }, svg('title', {}, `${part.arms[line.arm]}, best by test: an oracle’s`)));
    out.append(svg('path', { class: `course ${ofArm(line.arm)}`, 'stroke-dasharray': ARM_DASHES[line.arm % 8], d: path(line.points) }, svg('title', {}, part.arms[line.arm])));
    const [at, value] = line.points.at(-1);
    out.append(svg('circle', { class: `dot ${ofArm(line.arm)}`, cx: x(at) + shift, cy: y(value), r: 8 }, svg('title', {}, `${part.arms[line.arm]}: ${value.toFixed(1)} %`)),
      svg('text', { class: 'letter', x: x(at) + shift, y: y(value) + 4, 'text-anchor': 'middle' }, letter(line.arm)));
  });
  const thin = plot.lines.some((line) => line.oracle.length) && el('p', { class: 'note' }, 'Thin: the best by test, an oracle’s; no strategy can know it.');
  const bars = plot.lines.some((line) => line.band.some(Boolean)) && el('p', { class: 'note' }, 'Bars: 95 % over competitions.');
  return chart(plot.title, `${plot.title}, ${part.title}`, out, key(plot.lines.map((line) => line.arm), part.arms), thin, bars);
}

// By how much validation was better than the test, a point for each run.
function gaps(part) {
  if (!part.gaps.length) return null;
  const arms = [...new Set(part.gaps.map((one) => one.arm))].sort((one, other) => one - other);
  const [width, row, left] = [WIDTH, 46, LEFT];
  const height = arms.length * row + 44;
  // One run far off must not hide the others: it stands at the edge.
  const sizes = part.gaps.map((one) => Math.abs(one.percent)).sort((one, other) => one - other);
  const far = Math.max(1, sizes[Math.floor((sizes.length - 1) * (sizes.length > 8 ? 0.9 : 1))]) * 1.15;
  const x = (value) => left + ((Math.min(far, Math.max(-far, value)) + far) / (2 * far)) * (width - left - 20);
  const out = canvas(width, height, `Validation beside test, ${part.title}`);
  for (const value of ticks(-far, far, WIDE ? 6 : 3)) {
    const middle = Math.abs(value) < 1e-9;
    out.append(svg('line', { class: middle ? 'zero' : 'grid', x1: x(value), x2: x(value), y1: 4, y2: height - 30 }),
      svg('text', { x: x(value), y: height - 14, 'text-anchor': 'middle' }, middle ? '0' : `${value > 0 ? '+' : '−'}${Number(Math.abs(value).toPrecision(3))} %`));
  }
  arms.forEach((arm, place) => {
    const y = place * row + 24;
    out.append(svg('text', { class: 'strong', x: left - 12, y: y + 4, 'text-anchor': 'end' }, svg('title', {}, part.arms[arm]), short(part.arms[arm], LETTERS_LEFT)));
    part.gaps.filter((one) => one.arm === arm).forEach((one, at) => {
      // Spread over the row by their order, so that level ones are all seen.
      const [cx, cy] = [x(one.percent), y + ((at * 7) % 5 - 2) * 5];
      const told = svg('title', {}, `${one.run}: ${one.percent > 0 ? 'too optimistic' : one.percent < 0 ? 'too pessimistic' : 'as in the test'}, ${points(one.percent)} % of the test score`);
      const beyond = Math.abs(one.percent) > far;
      out.append(beyond ? svg('path', { class: `point ${ofArm(arm)}`, d: `M${cx} ${cy - 4}v8l${one.percent > 0 ? 7 : -7}-4z` }, told) : svg('circle', { class: `point ${ofArm(arm)}`, cx, cy, r: 4 }, told));
    });
  });
  return chart('Validation beside test, run by run', `Validation beside test, ${part.title}`, out,
    el('p', { class: 'note' }, 'In percent of the test score. To the right: validation was too optimistic. A triangle stands beyond the edge.'));
}

function compared(part) {
  if (!part.compared.length) return null;
  const one = ([first, ...rest], place) => {
    const of = part.differences[place];
    return el('li', {}, of && el('span', { class: `verdict${of.decided ? ' decided' : ''}` }, `${of.a} − ${of.b}: ${of.verdict}`), el('p', {}, first), ...rest.map((line) => el('p', {}, line)));
  };
  return [el('h3', {}, 'Arms beside each other'), el('ul', { class: 'verdicts' }, ...part.compared.map(one))];
}

function ofTable(part) {
  const beside = part.beside.flatMap(([arm, lines]) => [el('dt', {}, arm), ...lines.map((line) => el('dd', {}, line))]);
  return el('section', {}, el('h2', {}, part.title), numbers(`Rates, ${part.title}`, part.rates), el('p', { class: 'note' }, part.errors),
    el('div', { class: 'beside-each' }, medalBars(part), forest(part), ...part.curves.map((plot) => curve(plot, part)), gaps(part)),
    compared(part), el('h3', {}, 'Each arm'), el('dl', { class: 'of-arms' }, ...beside), ...part.below.map((line) => el('p', { class: 'note' }, line)));
}

function drawReport(sheet) {
  return el('div', { class: 'report' },
    el('p', {}, sheet.planned),
    ...sheet.remarks.map((remark) => el('p', { class: 'note' }, el('b', {}, '! '), remark)),
    ...sheet.tables.map(ofTable),
    sheet.slices && el('section', {}, el('h2', {}, 'By what competitions are like', el('small', {}, 'any medal, percent; small numbers, and no comparison')), numbers('By kinds of competitions', sheet.slices)),
    el('section', {}, el('h2', {}, 'Disclosure'), el('ul', { class: 'disclosure' }, ...sheet.disclosure.map((line) => el('li', {}, line)))));
}
