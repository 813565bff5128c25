// The run as the page reads it: items, their kin, and what was best at each moment.

function read(id) {
  return JSON.parse(byId(id)?.textContent || 'null');
}

// Numbers that JSON does not have come as words.
function number(value) {
  return value === null || value === undefined ? null : Number(value);
}

const story = read('story');
const items = read('items');
const byNumber = new Map(items.map((item) => [item.id, item]));
const unit = story.unit;
const lower = story.direction === 'lower';

function better(left, right) {
  if (Number.isNaN(left)) return false;
  return Number.isNaN(right) || (lower ? left < right : left > right);
}

// By how much `left` is better than `right`.
function lead(left, right) {
  return lower ? right - left : left - right;
}

// One pass: numbers read, children gathered, records marked. Items stand in the order in which they finished.
(() => {
  let best = null;
  for (const item of items) {
    item.metric = number(item.metric);
    item.children = [];
    item.handed = item.id === story.selected;
    item.record = item.good && item.metric !== null && (best === null || better(item.metric, best));
    if (item.record) best = item.metric;
  }
  for (const item of items) {
    // A second parent shapes no tree: it is drawn as a line of its own.
    const parent = byNumber.get(item.parents[0]);
    item.parent = parent && parent !== item ? parent : null;
    if (item.parent) item.parent.children.push(item);
  }
  // How good, from 0 to 1, by rank: metrics have no common scale.
  const ranked = items.filter((item) => item.good && item.metric !== null && !Number.isNaN(item.metric));
  ranked.sort((one, other) => lead(one.metric, other.metric));
  ranked.forEach((item, place) => { item.quality = ranked.length < 2 ? 1 : place / (ranked.length - 1); });
  if (story.grade) {
    for (const name of ['score', 'gap']) story.grade[name] = number(story.grade[name]);
    story.grade.lines = story.grade.lines.map(([name, value]) => [name, number(value)]);
  }
})();

const buggy = items.filter((item) => !item.good).length;

// What is read only when somebody looks.
const details = new Map();
function detailOf(id) {
  if (!details.has(id)) details.set(id, read(`item-${id}`));
  return details.get(id);
}

// The way from a root to an item. A file that was tampered with may go in circles.
function lineage(item) {
  const way = new Set();
  for (let at = item; at && !way.has(at); at = at.parent) way.add(at);
  return way;
}
