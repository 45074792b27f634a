// One step of `npm run measure` in this process: prints its figures as the last line.
import { STEPS, type Step } from './steps.ts';
import { Life } from './life.ts';

const [name, folder = '', size = '0', messages = '0'] = process.argv.slice(2);
const step = STEPS.find((known) => known === name) as Step;
const life = new Life(folder);
const { seconds, says } = await life.play(step, { events: Number(size), messagePercent: Number(messages) });
/** Kilobytes on every system that we run on. */
const peakMegabytes = process.resourceUsage().maxRSS / 1_024;
console.log(JSON.stringify({ seconds, peakMegabytes, says }));
process.exit(0);
