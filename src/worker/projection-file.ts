// A projection in one file, replaced as a whole: a line with the hash of the rest, and the state as the authority streams it.
// Its size is that of the state, so it is for Groups of some thousand aggregates.

import { createHash } from 'node:crypto';
import { open, readFile, rename, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { STATE_FORMAT } from '../wire/state-document.ts';
import { lineText } from '../wire/state-lines.ts';
import type { GroupFold } from './group-fold.ts';
import type { ProjectionStore } from './projection.ts';
import { readState } from './state-reading.ts';

const PRIVATE_FILE = 0o600;

/** Its folder exists. One process keeps it at a time. */
export function projectionFile(path: string, about: { organizationId: string; groupId: string }): ProjectionStore {
  return {
    load: () => load(path, about),
    advance: (fold) => replace(path, textOf(fold)),
  };
}

async function load(path: string, about: { organizationId: string; groupId: string }): Promise<GroupFold | undefined> {
  const bytes = await readFile(path).catch(absent);
  const end = bytes?.indexOf('\n') ?? -1;
  if (!bytes || end < 0) return undefined;
  const rest = bytes.subarray(end + 1);
  if (bytes.toString('latin1', 0, end) !== hashOf(rest)) return undefined;
  const read = await readState(once(rest), about);
  return read.ok ? read.fold : undefined;
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function textOf(fold: GroupFold): string {
  const { organizationId, groupId, throughSequence } = fold;
  const all = fold.view.all();
  const header = { format: STATE_FORMAT, organizationId, groupId, throughSequence, aggregates: all.length };
  const lines = all.map(({ kind, id, document }) => lineText({ kind, id, document: document as never }));
  const state = [lineText({ ...header, stateHash: fold.stateHash() }), ...lines].join('');
  return `${hashOf(state)}\n${state}`;
}

function hashOf(content: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** First the bytes are on the disk, then the name, then the folder: whoever ends in between leaves the earlier file. */
async function replace(path: string, text: string): Promise<void> {
  const incoming = `${path}.incoming`;
  await synced(incoming, 'w', (file) => file.writeFile(text));
  await rename(incoming, path);
  await synced(dirname(path), 'r');
}

async function synced(path: string, flags: string, write?: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags, PRIVATE_FILE);
  try {
    await write?.(file);
    await file.sync();
  } finally {
    await file.close();
  }
}
