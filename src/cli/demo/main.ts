// `mwp demo`: reads the command line, prepares the screen, runs, and answers the exit code. Ctrl-C ends it early, with
// everything taken down.

import { HELP, parseDemoArguments } from './arguments.ts';
import { paletteFor } from './palette.ts';
import { runDemo } from './run.ts';
import { Screen } from './screen.ts';
import { StageHands } from './stage.ts';

const FAILED = 1;
const WRONG_USE = 2;
const INTERRUPTED = 130;
const INTERRUPTION = 'mwp demo: interrupted; temporary folders and servers are gone\n';

export async function demoCommand(args: readonly string[]): Promise<number> {
  const wish = parseDemoArguments(args);
  if (wish.wants === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if (wish.wants === 'nothing') {
    process.stderr.write(`mwp demo: ${wish.fault}\nTry mwp demo --help\n`);
    return WRONG_USE;
  }
  const { stdout, env } = process;
  const screen = new Screen({
    write: (text) => void stdout.write(text),
    palette: paletteFor(stdout, env),
    ...(stdout.isTTY && { columns: stdout.columns }),
    clock: () => performance.now(),
  });
  const stop = new AbortController();
  const hands = new StageHands();
  let interrupted = false;
  const interrupt = () => {
    interrupted = true;
    stop.abort(new Error('interrupted'));
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    const paceMs = stdout.isTTY ? wish.paceMs : 0;
    const passed = await runDemo({ database: wish.database, paceMs, screen, hands, stop });
    if (!interrupted) return passed ? 0 : FAILED;
    process.stderr.write(INTERRUPTION);
    return INTERRUPTED;
  } catch (error) {
    if (interrupted) {
      process.stderr.write(INTERRUPTION);
      return INTERRUPTED;
    }
    process.stderr.write(`mwp demo: ${inOneLine(error)}\n`);
    return FAILED;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

const LONGEST_MESSAGE = 300;

/** With the reason behind it: a failed statement says nothing without the database's own words. */
function inOneLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = error.message.replaceAll(/\s+/g, ' ').slice(0, LONGEST_MESSAGE).trim();
  return error.cause instanceof Error ? `${message} (${inOneLine(error.cause)})` : message;
}
