// The run as the page reads it: items, their kin, and what was best at each moment. A run that goes on is absorbed again
// and again; what was drawn of it before has to be drawn anew then.

// Numbers that JSON does not have come as words.
function number(value) {
  return value === null || value === undefined ? null : Number(value);
}

const items = [];
const byNumber = new Map();
let story = null;
let unit = 'node';
let lower = false;
let buggy = 0;

function better(left, right) {
  if (Number.isNaN(left)) return false;
  return Number.isNaN(right) || (lower ? left < right : left > right);
}

// By how much `left` is better than `right`.
function lead(left, right) {
  return lower ? right - left : left - right;
}

// Takes in what is told of a run, and those of its items that are new or other than before.
function absorb(told, fresh) {
  story = told;
  unit = story.unit;
  lower = story.direction === 'lower';
  for (const item of fresh) {
    item.metric = number(item.metric);
    const former = byNumber.get(item.id);
    if (former) items[items.indexOf(former)] = item;
    else items.push(item);
    byNumber.set(item.id, item);
    details.delete(item.id);
  }
  if (story.grade) {
    for (const name of ['score', 'gap']) story.grade[name] = number(story.grade[name]);
    story.grade.lines = story.grade.lines.map(([name, value]) => [name, number(value)]);
  }
  relate();
}

// One pass: children gathered, records marked. Items stand in the order in which they finished.
function relate() {
  let best = null;
  items.forEach((item, place) => {
    item.place = place + 1;
    item.children = [];
    item.quality = undefined;
    item.handed = item.id === story.selected;
    item.record = item.good && item.metric !== null && (best === null || better(item.metric, best));
    if (item.record) best = item.metric;
  });
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
  buggy = items.filter((item) => !item.good).length;
}

// What is read only when somebody looks.
const details = new Map();
async function detailOf(id) {
  if (!details.has(id)) details.set(id, source.detail(id));
  try {
    return await details.get(id);
  } catch (error) {
    details.delete(id);
    throw error;
  }
}

// The way from a root to an item. A file that was tampered with may go in circles.
function lineage(item) {
  const way = new Set();
  for (let at = item; at && !way.has(at); at = at.parent) way.add(at);
  return way;
}

const opened = await source.open();
absorb(opened.story, opened.items);
