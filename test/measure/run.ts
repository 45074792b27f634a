// `npm run measure`: what a Group costs over its whole life: its snapshots, the online window, coming back after a long gap, its
// export, its proofs and its end; each step in a process of its own, for its time and its memory, in a small Group and in a large one.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { STEPS, type StepFigures } from './steps.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '20000,200000' },
    /** Messages among them, in percent: each is an aggregate of its own in the state, for ever. */
    messages: { type: 'string', default: '5' },
    keep: { type: 'boolean', default: false },
  },
});
const sizes = values.events.split(',').map(Number);
const found: { size: number; figures: Map<string, StepFigures> }[] = [];
for (const size of sizes) {
  const folder = mkdtempSync(join(tmpdir(), 'mwp-measure-'));
  const figures = new Map<string, StepFigures>();
  try {
    for (const step of STEPS) {
      const figure = await runStep(step, folder, size);
      figures.set(step, figure);
      console.log(lineOf(step, figure));
    }
  } finally {
    if (values.keep) console.log(folder);
    else rmSync(folder, { recursive: true, force: true });
  }
  found.push({ size, figures });
}
report();

function runStep(step: string, folder: string, size: number): Promise<StepFigures> {
  return new Promise((resolve, reject) => {
    const script = join(import.meta.dirname, 'step.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', script, step, folder, String(size), values.messages], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    child.on('error', reject);
    child.on('close', (code) => {
      const last = text.trim().split('\n').at(-1) ?? '';
      if (code === 0) resolve(JSON.parse(last) as StepFigures);
      else reject(new Error(`${step} of ${size} ended with ${code}: ${text}`));
    });
  });
}

function lineOf(step: string, { seconds, peakMegabytes, says }: StepFigures): string {
  return `${step.padEnd(22)} ${seconds.toFixed(2).padStart(9)} s ${String(Math.round(peakMegabytes)).padStart(6)} MB  ${says}`;
}

/** How the cost grew from the first size to the last, and how much sooner a restore is there than a full replay. */
function report(): void {
  const [first, last] = [found[0], found.at(-1)];
  if (!first || !last) return;
  if (first !== last) {
    console.log(`\n${last.size / first.size} times the Events:`);
    for (const step of STEPS) {
      const [small, large] = [first.figures.get(step), last.figures.get(step)];
      // Nothing was done there.
      if (!small?.seconds || !large?.seconds) continue;
      const growth = (large.seconds / small.seconds).toFixed(1);
      console.log(
        `${step.padEnd(22)} ${growth.padStart(7)} times the time, ${(large.peakMegabytes - small.peakMegabytes).toFixed(0)} MB more`,
      );
    }
  }
  for (const { size, figures } of found) {
    const [replay, restore] = [figures.get('replay'), figures.get('restore')];
    if (replay && restore)
      console.log(
        `${size} Events: a restore is ${(replay.seconds / restore.seconds).toFixed(1)} times faster than a full replay`,
      );
  }
}
