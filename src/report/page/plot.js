// The best validation metric over run time, dollars or nodes, with medal lines once the run is graded.

const AXES = {
  time: { of: (item) => item.at_ms, end: () => story.run_ms, text: shortTime, name: 'run time' },
  dollars: { of: (item) => item.spent, end: () => story.cost, text: (value) => '$' + Number(value.toPrecision(3)), name: 'dollars' },
  order: { of: (item) => item.place, end: () => items.length, text: String, get name() { return `${unit}s`; } },
};

function makePlot(place, opened) {
  let axis = 'time';
  let current = null;
  const marks = new Map();
  // From this many on points are drawn together: a shape each would take longer than all the rest of the page.
  const FEW = 300;
  const spots = [];
  let title = null;
  let raised = null;

  // Far-off values are drawn at the edge: one bad model must not flatten the rest.
  function range(values, lines) {
    const sorted = [...values].sort((one, other) => lead(other, one));
    const best = sorted[0];
    let worst = sorted[Math.floor((sorted.length - 1) * (sorted.length > 8 ? 0.85 : 1))];
    const span = Math.abs(worst - best) || Math.abs(best) * 0.1 || 1;
    let [low, high] = [Math.min(best, worst), Math.max(best, worst)];
    for (const value of lines) {
      if (value >= low - span * 0.8 && value <= high + span * 0.8) [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
    const room = (high - low || span) * 0.07;
    return [low - room, high + room];
  }

  function draw() {
    const { width, height } = place.getBoundingClientRect();
    place.replaceChildren();
    marks.clear();
    spots.length = 0;
    raised = null;
    const points = items.filter((item) => item.good && Number.isFinite(item.metric));
    if (!points.length || width < 80) {
      place.append(el('p', { class: 'empty' }, unit === 'step' ? 'Steps of a loop report no validation metric.' : 'No node has a validation metric yet.'));
      return;
    }
    const { of, end, text, name } = AXES[axis];
    const grade = story.grade;
    const lines = grade ? grade.lines.filter(([, value]) => Number.isFinite(value)) : [];
    if (grade && Number.isFinite(grade.score)) lines.push(['test', grade.score]);
    const box = { left: 62, right: width - (lines.length ? 74 : 16), top: 10, bottom: height - 34, floor: height - 48 };
    const [low, high] = range(points.map((item) => item.metric), lines.map(([, value]) => value));
    const last = Math.max(end() ?? 0, ...items.slice(-1).map(of), axis === 'order' ? 1 : 1e-9);
    const x = (value) => box.left + (value / last) * (box.right - box.left);
    const y = (value) => box.floor - ((Math.min(high, Math.max(low, value)) - low) / (high - low)) * (box.floor - box.top);
    const out = svg('svg', { role: 'img', 'aria-label': `Best validation ${story.metric} over ${name}` });
    const step = ticks(low, high, Math.max(2, (box.bottom - box.top) / 42));
    const places = Math.max(0, Math.min(6, -Math.floor(Math.log10((step[1] ?? step[0] * 2) - step[0] || 1) + 1e-9)));
    for (const value of step) {
      out.append(svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
        svg('text', { x: box.left - 8, y: y(value) + 4, 'text-anchor': 'end' }, value.toFixed(places)));
    }
    for (const value of axis === 'time' ? timeTicks(last) : ticks(0, last, Math.min(8, items.length + 1))) {
      if (axis === 'order' && !Number.isInteger(value)) continue;
      out.append(svg('text', { x: x(value), y: box.bottom + 16, 'text-anchor': 'middle' }, text(value)));
    }
    out.append(svg('text', { x: (box.left + box.right) / 2, y: height - 4, 'text-anchor': 'middle' }, name));
    drawLines(out, lines, box, low, high, y);
    drawBest(out, points, of, box, x, y);
    const together = { points: [], faults: [] };
    for (const item of items) drawItem(out, item, x(of(item)), y, box, low, high, together);
    if (spots.length) findable(out, together);
    place.append(out);
    if (current) mark(current);
  }

  // Names are pushed apart, each beside its line as near as may be.
  function drawLines(out, lines, box, low, high, y) {
    const inside = lines.filter(([, value]) => value >= low && value <= high).sort((one, other) => y(one[1]) - y(other[1]));
    let free = box.top + 4;
    for (const [name, value] of inside) {
      const at = Math.max(free, y(value) + 4);
      free = at + 13;
      out.append(svg('g', { class: name }, svg('line', { class: 'line', x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
        svg('text', { class: 'line-name', x: box.right + 7, y: at }, name)));
    }
  }

  function drawBest(out, points, of, box, x, y) {
    const records = points.filter((item) => item.record);
    if (!records.length) return;
    let path = '';
    records.forEach((item, place) => {
      path += place ? `H${x(of(item))}V${y(item.metric)}` : `M${x(of(item))} ${y(item.metric)}`;
    });
    path += `H${box.right}`;
    out.append(svg('path', { class: 'under-best', d: `${path}V${box.floor}H${x(of(records[0]))}Z` }), svg('path', { class: 'best', d: path }));
  }

  function drawItem(out, item, at, y, box, low, high, together) {
    const many_ = items.length > FEW;
    let draw;
    if (item.good && Number.isFinite(item.metric)) {
      const off = item.metric < low || item.metric > high;
      const [cx, cy] = [at, y(item.metric)];
      const r = many_ ? 2.6 : 4.2;
      const peak = item.metric > high ? -1 : 1;
      draw = () => (off
        ? svg('path', { class: 'point', d: `M${cx - 4} ${cy}h8l-4 ${7 * peak}z` }, svg('title', {}, inWords(item)))
        : svg('circle', { class: `point${item.record ? ' record' : ''}`, cx, cy, r: item.record ? r + 0.6 : r }, svg('title', {}, inWords(item))));
      if (many_ && !item.record && !off) return spot(together.points, `M${cx.toFixed(1)} ${cy.toFixed(1)}h0`, item, cx, cy, draw);
    } else {
      const s = many_ ? 2 : 3.4;
      const cy = box.bottom - 4;
      const cross = `M${(at - s).toFixed(1)} ${cy - s}l${2 * s} ${2 * s}m0 ${-2 * s}l${-2 * s} ${2 * s}`;
      draw = () => svg('path', { class: 'fault', d: cross }, svg('title', {}, inWords(item)));
      if (many_) return spot(together.faults, cross, item, at, cy, draw);
    }
    const shape = draw();
    shape.addEventListener('click', () => opened(item));
    marks.set(item, shape);
    out.append(shape);
  }

  // One of many: it has a shape of its own only while it is open.
  function spot(paths, path, item, x, y, draw) {
    paths.push(path);
    spots.push({ item, x, y, draw });
  }

  // The points that are drawn together, below those that are not; the nearest one is told and opened.
  function findable(out, together) {
    const first = [...out.children].find((shape) => shape.matches('.point')) ?? null;
    for (const [name, paths] of Object.entries(together)) {
      for (let from = 0; from < paths.length; from += 500) {
        out.insertBefore(svg('path', { class: name, d: paths.slice(from, from + 500).join('') }), first);
      }
    }
    title = svg('title', {});
    out.prepend(title);
    const nearest = (event) => {
      const { left, top } = place.getBoundingClientRect();
      const [x, y] = [event.clientX - left, event.clientY - top];
      let [found, least] = [null, 9];
      for (const one of spots) {
        const far = Math.hypot(one.x - x, one.y - y);
        if (far < least) [found, least] = [one.item, far];
      }
      return found;
    };
    const own = (event) => event.target.closest('.point');
    out.addEventListener('pointermove', (event) => {
      const item = own(event) ? null : nearest(event);
      title.textContent = item ? inWords(item) : '';
      out.classList.toggle('near', Boolean(item));
    });
    out.addEventListener('click', (event) => { if (!own(event)) { const item = nearest(event); if (item) opened(item); } });
  }

  function mark(item) {
    marks.get(current)?.classList.remove('open');
    raised?.remove();
    raised = null;
    current = item;
    let shape = marks.get(item);
    const one = shape ? null : spots.find((spot_) => spot_.item === item);
    if (one) {
      shape = raised = one.draw();
      shape.classList.add('raised');
      place.firstElementChild.append(shape);
    }
    shape?.classList.add('open');
    // Last drawn, so that no other lies over it.
    shape?.parentNode?.append(shape);
  }

  new ResizeObserver(draw).observe(place);
  return { mark, draw, over: (wanted) => { axis = wanted; draw(); } };
}

// Where the score stands between the medal lines: better to the right.
function medalStrip(grade, validation) {
  const [width, height] = [460, 62];
  const named = grade.lines.filter(([, value]) => Number.isFinite(value));
  const values = named.map(([, value]) => value).concat([grade.score, validation].filter((value) => Number.isFinite(value)));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (value) => {
    const share = high > low ? (value - low) / (high - low) : 0.5;
    return 26 + (lower ? 1 - share : share) * (width - 52);
  };
  const out = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'The test score between the medal lines' });
  out.append(svg('line', { x1: 12, x2: width - 12, y1: 34, y2: 34, stroke: 'var(--line)', 'stroke-width': 3, 'stroke-linecap': 'round' }));
  let free = -Infinity;
  for (const [name, value] of [...named].sort((one, other) => x(one[1]) - x(other[1]))) {
    const at = Math.max(free, x(value));
    free = at + name.length * 6 + 12;
    out.append(svg('g', { class: name }, svg('title', {}, `${name} ${score(value)}`),
      svg('line', { x1: x(value), x2: x(value), y1: 27, y2: 41, stroke: 'currentColor', 'stroke-width': 3, 'stroke-linecap': 'round' }),
      svg('text', { x: at, y: 56, 'text-anchor': 'middle', fill: 'currentColor', 'font-size': 11, 'font-weight': 620 }, name)));
  }
  if (Number.isFinite(validation)) {
    out.append(svg('g', {}, svg('title', {}, `validation ${score(validation)}`),
      svg('path', { d: `M${x(validation)} 25l-5-9h10z`, fill: 'var(--panel)', stroke: 'var(--soft)', 'stroke-width': 1.6 })));
  }
  if (Number.isFinite(grade.score)) {
    out.append(svg('g', {}, svg('title', {}, `test ${score(grade.score)}`),
      svg('path', { d: `M${x(grade.score)} 26l-6.5-11h13z`, fill: 'var(--ink)' }),
      svg('text', { x: x(grade.score), y: 11, 'text-anchor': 'middle', fill: 'var(--ink)', 'font-size': 11, 'font-weight': 650 }, 'test')));
  }
  return out;
}
