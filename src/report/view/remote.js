// Where the story comes from: the viewer's server. A run that goes on is asked for what is new of it, and drawn anew.

const at = asked.get('at') ?? '';
let readTo = 0;
let goesOn = false;
crumbs(at);

async function news(since) {
  const view = await ask('run', { at, since });
  readTo = view.read;
  goesOn = view.going_on;
  document.title = `${plain(view.story.title)} · podium`;
  view.story.warnings.push(...view.faults);
  const said = goesOn ? ['◐ going on', view.last && [' · ', view.last.key, ' · ', moment(view.last.at)]]
    : view.story.ending ? [] : ['◌ cut off: it has no report, and nobody works on it · go on: podium resume'];
  byId('pulse').replaceChildren(el('span', { class: goesOn ? 'fate now' : 'fate warn' }, ...said));
  byId('pulse').hidden = !said.length;
  return view;
}

const source = {
  open: async () => {
    try {
      return await news(0);
    } catch (error) {
      failed(error);
      // Nothing of it can be drawn, and it has been said why.
      return new Promise(() => {});
    }
  },
  detail: async (n) => (await ask('item', { at, n })).detail,
  follow: (renewed) => poll(async () => {
    if (!goesOn) return false;
    const before = readTo;
    const view = await news(before);
    if (view.read < before) { location.reload(); return false; }
    if (view.read === before && goesOn) return true;
    absorb(view.story, view.items);
    renewed(new Set(view.items.map((item) => item.id)));
    return goesOn;
  }, 1500),
};
