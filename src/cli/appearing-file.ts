// A file that appears under its name when it is whole: until then it lies beside it under another one. Whoever ends the process in
// between leaves that other one, which nobody takes for the file.
import { randomBytes } from 'node:crypto';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { CommandFault } from './command-line.ts';
import { OWNER_ONLY, whyNotWritten } from './files.ts';

/** Characters that wait for one write: a system call for each line would cost more than the line. */
const HELD_MAXIMUM = 262_144;

/** Runs `work` with what appends to the file. Throws CommandFault for what cannot be written; never writes over a file. */
export async function writeAppearing<Result>(
  file: string,
  work: (write: (text: string) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const told = (error: unknown): never => {
    throw new CommandFault(whyNotWritten(file, error));
  };
  // Asked before the work, which may take long, and made sure of after it.
  await expectNothingAt(file).catch(told);
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`;
  const handle = await open(partial, 'wx', OWNER_ONLY).catch(told);
  let held = '';
  // Goes on from where the last one ended.
  const flush = async () => {
    await handle.writeFile(held).catch(told);
    held = '';
  };
  try {
    const result = await work(async (text) => {
      held += text;
      if (held.length >= HELD_MAXIMUM) await flush();
    });
    await flush();
    // The bytes are on the disk before the name is.
    await handle.sync().catch(told);
    await handle.close().catch(told);
    await giveName(partial, file).catch(told);
    return result;
  } finally {
    await handle.close().catch(() => undefined);
    await rm(partial, { force: true }).catch(() => undefined);
  }
}

/** A second name replaces nothing, as a new one in place of the old would. */
async function giveName(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    // Not every file system has second names.
    await expectNothingAt(file);
    await rename(partial, file);
  }
}

async function expectNothingAt(file: string): Promise<void> {
  try {
    await lstat(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  throw Object.assign(new Error('there already'), { code: 'EEXIST' });
}
