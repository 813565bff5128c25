// The search tree: drawn where it is looked at, moved and scaled by hand or by key.

const STAR = 'M0-7 1.9-2.2 7-2.2 2.9 1 4.4 6 0 3-4.4 6-2.9 1-7-2.2-1.9-2.2Z';

// What a node is, in words: for a reader, a screen reader and a pointer.
function inWords(item) {
  const from = item.parents.length ? ` of ${item.parents.join(' and ')}` : '';
  const parts = [`${unit} ${item.id}, ${item.operator}${from}`];
  parts.push(item.good ? (item.metric === null ? 'good' : `validation ${score(item.metric)}`) : unit === 'step' ? 'failed' : 'buggy');
  if (item.record) parts.push('best so far');
  if (item.handed) parts.push('handed in');
  return parts.join(', ');
}

function makeTree(place, opened) {
  let rails = [];
  let bounds = null;
  let railOf = new Map();
  let mini = null;
  const edges = svg('path', { class: 'edge' });
  const second = svg('path', { class: 'edge second' });
  const way = svg('path', { class: 'edge lineage' });
  const nodes = svg('g', {});
  const boxes = svg('g', {});
  const world = svg('g', {}, edges, second, boxes, way, nodes);
  const canvas = svg('svg', { 'aria-hidden': true }, world);
  place.append(canvas);

  const view = { x: 0, y: 0, scale: 1 };
  const drawn = new Map();
  let window_ = null;
  let current = null;
  let asked = false;

  const left = (item) => item.x - SIZE.width / 2;
  const right = (item) => item.x + SIZE.width / 2;
  const curve = (x1, y1, x2, y2) => {
    const bend = Math.max(8, (x2 - x1) / 2);
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  };
  const edge = (item) => {
    const parent = item.parent;
    if (!parent) return '';
    const rail = item.packed && railOf.get(parent);
    if (rail) return curve(right(parent), parent.y, rail.x, rail.y + rail.height / 2);
    return curve(right(parent), parent.y, left(item), item.y);
  };
  // Lines from second parents cross all others: in a large tree only those of the open item are drawn.
  const others = (item) => item.parents.slice(1).map((id) => byNumber.get(id)).filter(Boolean)
    .map((parent) => curve(right(parent), parent.y, left(item), item.y)).join('');

  // Where everything stands: once, and again whenever a run that goes on has got more items.
  function lay() {
    ({ rails, bounds } = layout());
    railOf = new Map(rails.map((rail) => [rail.parent, rail]));
    edges.setAttribute('class', dense ? 'edge thin' : 'edge');
    edges.setAttribute('d', items.filter((item) => !item.packed).map(edge).join('') +
      rails.filter((rail) => rail.parent).map((rail) => curve(right(rail.parent), rail.parent.y, rail.x, rail.y + rail.height / 2)).join(''));
    boxes.replaceChildren(...rails.map(({ x, y, width, height }) => svg('rect', { class: 'rail', x, y, width, height, rx: dense ? 6 : 14 })));
    second.setAttribute('d', dense ? '' : items.map(others).join(''));
    nodes.replaceChildren();
    drawn.clear();
    window_ = null;
    mini?.remove();
    mini = dense ? makeMini(place, bounds, (x, y) => centre(x, y, view.scale)) : null;
  }

  function drawCard(item) {
    const [w, h] = [SIZE.width, SIZE.height];
    const value = item.good ? (item.metric === null ? 'no metric' : score(item.metric)) : unit === 'step' ? '✕ failed' : '✕ buggy';
    const mark = item.handed ? '★' : item.record ? '▲' : item.valid || item.good ? '' : 'no file';
    return [
      svg('rect', { class: 'card', x: -w / 2, y: -h / 2, width: w, height: h, rx: 9 }),
      item.good && svg('rect', { class: 'quality', x: -w / 2 + 5, y: -h / 2 + 6, width: 4, height: h - 12, rx: 2 }),
      svg('text', { class: 'what', x: -w / 2 + 16, y: -4 }, `${item.id}  ${item.operator}`.slice(0, 17)),
      svg('text', { class: 'metric', x: -w / 2 + 16, y: 12 }, unit === 'step' && item.good ? '' : value),
      svg('text', { class: 'mark', x: w / 2 - 9, y: 12 }, mark),
    ];
  }

  function drawDot(item) {
    const shape = item.handed ? svg('path', { class: 'dot', d: STAR })
      : item.good ? svg('circle', { class: 'dot', r: item.record ? 5.6 : 4.6 })
      : svg('path', { class: 'cross', d: 'M-3-3 3 3M3-3-3 3' });
    const text = view.scale > 2.2 && !item.handed && svg('text', { class: 'small', y: item.good ? 1.8 : 7.5 }, item.id);
    return [svg('circle', { class: 'halo', r: 7.5 }), svg('rect', { x: -7, y: -7, width: 14, height: 14, fill: 'transparent' }), shape, text];
  }

  function draw(item) {
    const kind = ['node', item.good ? '' : 'buggy', item.handed ? 'handed' : '', item.record ? 'record' : ''];
    const group = svg('g', { class: kind.join(' '), 'data-node': item.id, transform: `translate(${item.x} ${item.y})` },
      svg('title', {}, inWords(item)), ...(dense ? drawDot(item) : drawCard(item)));
    if (item.quality !== undefined) group.style.setProperty('--q', `${Math.round(item.quality * 100)}%`);
    group.classList.toggle('open', item === current);
    return group;
  }

  // Draws what lies in or near the window, when the window has left what is drawn.
  function refresh() {
    asked = false;
    world.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.scale})`);
    // From far away nodes are drawn larger than they are, or nothing would be seen of them.
    if (dense) nodes.style.setProperty('--grow', Math.max(1, 0.42 / view.scale).toFixed(2));
    const { width, height } = place.getBoundingClientRect();
    const seen = { left: -view.x / view.scale, top: -view.y / view.scale };
    seen.right = seen.left + width / view.scale;
    seen.bottom = seen.top + height / view.scale;
    const close = dense && view.scale > 2.2;
    const covered = window_ && window_.close === close && seen.left >= window_.left && seen.top >= window_.top &&
      seen.right <= window_.right && seen.bottom <= window_.bottom;
    if (!covered) {
      const [dx, dy] = [(seen.right - seen.left) / 2, (seen.bottom - seen.top) / 2];
      if (window_ && window_.close !== close) { nodes.replaceChildren(); drawn.clear(); }
      window_ = { left: seen.left - dx, top: seen.top - dy, right: seen.right + dx, bottom: seen.bottom + dy, close };
      for (const item of items) {
        const inside = right(item) >= window_.left && left(item) <= window_.right &&
          item.y + SIZE.height >= window_.top && item.y - SIZE.height <= window_.bottom;
        const had = drawn.get(item);
        if (inside && !had) drawn.set(item, nodes.appendChild(draw(item)));
        if (!inside && had) { had.remove(); drawn.delete(item); }
      }
    }
    mini?.frame(seen);
  }

  function move() {
    if (!asked) { asked = true; requestAnimationFrame(refresh); }
  }

  function zoom(factor, x, y) {
    const scale = Math.min(6, Math.max(0.02, view.scale * factor));
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    move();
  }

  function zoomMiddle(factor) {
    const { width, height } = place.getBoundingClientRect();
    zoom(factor, width / 2, height / 2);
  }

  function fitting() {
    const { width, height } = place.getBoundingClientRect();
    const [w, h] = [bounds.right - bounds.left + 48, bounds.bottom - bounds.top + 48];
    return Math.min(width / w, height / h, dense ? 2 : 1.12);
  }

  function centre(x, y, scale) {
    const { width, height } = place.getBoundingClientRect();
    Object.assign(view, { scale, x: width / 2 - x * scale, y: height / 2 - y * scale });
    move();
  }

  function fit() {
    centre((bounds.left + bounds.right) / 2, (bounds.top + bounds.bottom) / 2, Math.max(0.02, fitting()));
  }

  // The whole, where it can be read; else the neighbourhood of an item.
  function begin(item) {
    const scale = fitting();
    if (scale >= (dense ? 0.5 : 0.55) || !item) fit();
    else centre(item.x, item.y, dense ? 1.2 : 0.85);
  }

  function mark(item) {
    drawn.get(current)?.classList.remove('open');
    current = item;
    drawn.get(item)?.classList.add('open');
    way.setAttribute('d', [...lineage(item)].map(edge).join(''));
    if (dense) second.setAttribute('d', others(item));
    // Into sight, by as little as that takes.
    const { width, height } = place.getBoundingClientRect();
    const into = (at, half, whole) => {
      const room = half * view.scale + 12;
      return at < room ? room - at : at > whole - room ? whole - room - at : 0;
    };
    view.x += into(item.x * view.scale + view.x, SIZE.width / 2, width);
    view.y += into(item.y * view.scale + view.y, SIZE.height / 2, height);
    move();
  }

  let drag = null;
  place.addEventListener('pointerdown', (event) => {
    if (event.button === 0 && !event.target.closest('.mini')) drag = { x: event.clientX, y: event.clientY, far: false };
  });
  addEventListener('pointermove', (event) => {
    if (!drag) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    drag.far ||= Math.hypot(dx, dy) > 4;
    if (!drag.far) return;
    place.classList.add('dragging');
    Object.assign(drag, { x: event.clientX, y: event.clientY });
    view.x += dx;
    view.y += dy;
    move();
  });
  addEventListener('pointerup', (event) => {
    const was = drag;
    drag = null;
    place.classList.remove('dragging');
    if (!was || was.far) return;
    const hit = event.target.closest?.('[data-node]');
    if (hit && place.contains(hit)) opened(byNumber.get(Number(hit.dataset.node)));
  });
  place.addEventListener('wheel', (event) => {
    event.preventDefault();
    const box = place.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.06 : 0.0016)), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  new ResizeObserver(() => { window_ = null; move(); }).observe(place);

  lay();
  const renew = (item) => { lay(); current = null; if (item) mark(item); else move(); };
  return { begin, fit, mark, renew, zoom: zoomMiddle, repaint: () => mini?.paint() };
}

// The whole tree in a corner, with a frame around what is seen.
function makeMini(place, bounds, go) {
  const [w, h] = [bounds.right - bounds.left, bounds.bottom - bounds.top];
  const scale = Math.min(190 / w, 130 / h);
  const size = { width: Math.max(40, Math.round(w * scale) + 12), height: Math.max(30, Math.round(h * scale) + 12) };
  const ratio = devicePixelRatio || 1;
  const canvas = el('canvas', { class: 'mini', width: size.width * ratio, height: size.height * ratio, 'aria-hidden': true });
  canvas.style.width = `${size.width}px`;
  canvas.style.height = `${size.height}px`;
  place.append(canvas);
  let frame = null;
  const paint = () => {
    const pen = canvas.getContext('2d');
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, size.width, size.height);
    const at = (x, y) => [(x - bounds.left) * scale + 6, (y - bounds.top) * scale + 6];
    for (const [wanted, name] of [[false, '--bad'], [true, '--better']]) {
      pen.fillStyle = colour(name);
      pen.globalAlpha = wanted ? 0.8 : 0.35;
      for (const item of items) if (item.good === wanted) pen.fillRect(...at(item.x, item.y), 1.6, 1.6);
    }
    pen.globalAlpha = 1;
    if (!frame) return;
    pen.strokeStyle = colour('--accent');
    pen.lineWidth = 1.5;
    const [x, y] = at(frame.left, frame.top);
    const [x2, y2] = at(frame.right, frame.bottom);
    pen.strokeRect(Math.max(1, x), Math.max(1, y), Math.min(size.width - 1, x2) - Math.max(1, x), Math.min(size.height - 1, y2) - Math.max(1, y));
  };
  const jump = (event) => {
    const box = canvas.getBoundingClientRect();
    go((event.clientX - box.left - 6) / scale + bounds.left, (event.clientY - box.top - 6) / scale + bounds.top);
  };
  canvas.addEventListener('pointerdown', jump);
  canvas.addEventListener('pointermove', (event) => { if (event.buttons) jump(event); });
  const shows = (seen) => {
    frame = seen;
    // Where all is seen it would only lie over it.
    canvas.hidden = seen.left <= bounds.left && seen.top <= bounds.top && seen.right >= bounds.right && seen.bottom >= bounds.bottom;
    paint();
  };
  return { paint, frame: shows, remove: () => canvas.remove() };
}
