// Round numbers and times for the axes of plots.

// Round numbers between two, about `count` of them.
function ticks(low, high, count) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + span * 1e-9; i++) out.push(i * step);
  return out;
}

// Round lengths of time, in milliseconds.
function timeTicks(high) {
  const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400].map((s) => s * 1000);
  const step = steps.find((size) => high / size <= 7) ?? high / 6;
  const out = [];
  for (let at = 0; at <= high; at += step) out.push(at);
  return out;
}

function shortTime(ms) {
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)}${s % 60 ? `:${String(s % 60).padStart(2, '0')}` : ''} min`;
  return `${Math.floor(s / 3600)}${s % 3600 ? `:${String(Math.floor((s % 3600) / 60)).padStart(2, '0')}` : ''} h`;
}
