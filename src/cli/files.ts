// Files that commands read and write: a new one is never written over an old one, and only its owner may read it.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { readHeads, type AnchoredHeads } from '../archive/heads.ts';
import { CommandFault } from './command-line.ts';

export const OWNER_ONLY = 0o600;

export function writeNewFile(file: string, text: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'wx', OWNER_ONLY);
  } catch (error) {
    throw new CommandFault(whyNotWritten(file, error));
  }
  try {
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

export function whyNotWritten(file: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'EEXIST' ? `${file} is there already` : `${file} cannot be written: ${message}`;
}

export function readHeadsFile(file: string): AnchoredHeads {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new CommandFault(`${file} cannot be read: ${(error as Error).message}`);
  }
  const heads = readHeads(bytes);
  if (!heads) throw new CommandFault(`${file} is no file that mwp verify --write-heads wrote`);
  return heads;
}
