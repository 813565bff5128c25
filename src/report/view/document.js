// The report of an experiment as a page of its own: its data stand inside it.

const sheet = JSON.parse(byId('report').textContent);
const lights = () => document.documentElement.classList.toggle('dark');
if (matchMedia('(prefers-color-scheme: dark)').matches) lights();
byId('content').append(
  el('header', { class: 'head' }, el('h1', {}, sheet.experiment), el('span', { class: 'sub' }, 'experiment report'),
    el('div', { class: 'tools' }, el('button', { class: 'tool', onclick: lights }, 'Dark or light'))),
  el('main', {}, drawReport(sheet)));
addEventListener('keydown', (event) => {
  if (event.key === 't' && !event.ctrlKey && !event.metaKey && !event.altKey) lights();
});
