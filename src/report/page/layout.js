// Where each item stands, in time linear in their number: depth to the right, each subtree in rows of its own. Children
// without children of their own are most of a search; where there are many they stand in a block, so that the tree of a
// long run is an area and not a line.

let dense = false;
let SIZE = null;

function measure() {
  dense = items.length > 150;
  SIZE = dense
    ? { width: 10, height: 10, column: 36, row: 15, pitch: 14, packFrom: 4, stretch: 1.7 }
    : { width: 124, height: 40, column: 174, row: 50, pitch: 136, packFrom: 7, stretch: 0.45 };
}

function layout() {
  measure();
  const order = depthFirst();
  const top = new Map();
  const families = new Map([...order, null].map((item) => [item, family(item)]));
  // From the leaves up: how many rows each needs.
  const rows = new Map();
  const needs = (item) => {
    const { block, inner } = families.get(item);
    return Math.max(1, block.rows + inner.reduce((sum, child) => sum + rows.get(child), 0));
  };
  for (let i = order.length - 1; i >= 0; i--) rows.set(order[i], needs(order[i]));
  // A tree with far more rows than columns is spread sideways: its lines are easier to follow.
  let deepest = 1;
  for (const item of order) {
    item.depth = item.parent ? item.parent.depth + 1 : 0;
    deepest = Math.max(deepest, item.depth);
  }
  if (dense) SIZE.column = Math.min(110, Math.max(SIZE.column, (needs(null) * SIZE.row * 1.8) / deepest));
  // From the roots down: which rows are whose.
  const rails = [];
  const spread = (item, from, depth) => {
    const { block, inner } = families.get(item);
    block.leaves.forEach((leaf, place) => {
      leaf.x = depth * SIZE.column + (place % block.columns) * SIZE.pitch;
      leaf.y = (from + Math.floor(place / block.columns)) * SIZE.row;
      leaf.packed = block.columns > 1;
    });
    block.middle = (from + (block.rows - 1) / 2) * SIZE.row;
    if (block.columns > 1) rails.push(rail(item, block, from, depth));
    let next = from + block.rows;
    for (const child of inner) {
      top.set(child, next);
      next += rows.get(child);
    }
  };
  spread(null, 0, 0);
  for (const item of order) if (item.children.length) spread(item, top.get(item), item.depth + 1);
  // From the leaves up again: a parent stands in the middle of its children.
  for (let i = order.length - 1; i >= 0; i--) {
    const item = order[i];
    if (!item.children.length) continue;
    const { block, inner } = families.get(item);
    const middles = inner.map((child) => child.y);
    if (block.leaves.length) middles.push(block.middle);
    item.x = item.depth * SIZE.column;
    item.y = (Math.min(...ends(middles)) + Math.max(...ends(middles))) / 2;
  }
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const item of items) {
    bounds.left = Math.min(bounds.left, item.x - SIZE.width / 2);
    bounds.right = Math.max(bounds.right, item.x + SIZE.width / 2);
    bounds.top = Math.min(bounds.top, item.y - SIZE.height / 2);
    bounds.bottom = Math.max(bounds.bottom, item.y + SIZE.height / 2);
  }
  return { rails, bounds };
}

// The first and the last of them, which stand in order.
function ends(values) {
  return values.length > 1 ? [values[0], values.at(-1), values.at(-2)] : values;
}

// All items, parents before children. Whoever cannot be reached from a root becomes one.
function depthFirst() {
  const order = [];
  const seen = new Set();
  const visit = (root) => {
    const pending = [root];
    while (pending.length) {
      const item = pending.pop();
      if (seen.has(item)) continue;
      seen.add(item);
      order.push(item);
      for (let i = item.children.length - 1; i >= 0; i--) pending.push(item.children[i]);
    }
  };
  for (const item of items) if (!item.parent) visit(item);
  for (const item of items) {
    if (seen.has(item)) continue;
    item.parent.children = item.parent.children.filter((child) => child !== item);
    item.parent = null;
    visit(item);
  }
  return order;
}

// The children of an item, or the roots: a block of those without children, and the others.
function family(item) {
  const children = item ? item.children : items.filter((one) => !one.parent);
  const leaves = children.filter((child) => !child.children.length);
  const columns = leaves.length < SIZE.packFrom ? 1 : Math.ceil(Math.sqrt(leaves.length * SIZE.stretch));
  const block = { leaves, columns, rows: Math.ceil(leaves.length / columns) };
  return { block, inner: children.filter((child) => child.children.length) };
}

function rail(parent, block, from, depth) {
  const room = dense ? 3 : 7;
  const columns = Math.min(block.columns, block.leaves.length);
  return {
    parent,
    x: depth * SIZE.column - SIZE.width / 2 - room,
    y: from * SIZE.row - SIZE.height / 2 - room,
    width: (columns - 1) * SIZE.pitch + SIZE.width + 2 * room,
    height: (block.rows - 1) * SIZE.row + SIZE.height + 2 * room,
  };
}
