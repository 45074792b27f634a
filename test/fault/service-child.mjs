/* global process, URL */
// The service in a process of its own. It loads everything, says so, starts when it is told to, and at a chosen passing of
// a named point it ends or holds itself: no signal from outside hits a seam so exactly. What it hears and says stands in
// orders.ts; this is JavaScript of the built service, because to compile takes longer than to start.
const built = (file) => new URL(`../../dist/${file}`, import.meta.url).href;
const { readConfig } = await import(built('config.js'));
const { startService } = await import(built('main.js'));

const tell = (news) => process.send?.(news);

/** So often that Groups are looked after between two kills. */
const ROUND_INTERVAL_MS = 100;

let trap;
const pass = (point) => {
  if (point === trap?.after) trap.after = undefined;
  if (point !== trap?.point || trap.after !== undefined) return;
  trap.passings += 1;
  if (trap.passings === trap.passing) process.kill(process.pid, trap.signal);
};

process.on('message', (message) => {
  if (message.order === 'trap') return void (trap = { ...message.trap, passings: 0 });
  startService(readConfig(message.environment), { pass, roundInterval: ROUND_INTERVAL_MS }).then(
    ({ url }) => tell({ news: 'serving', url }),
    (error) => tell({ news: 'failed', why: error.stack ?? error.message }),
  );
});
// Whoever is told nothing more has no parent left.
process.once('disconnect', () => process.exit());
tell({ news: 'loaded' });
