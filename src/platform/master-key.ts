// The one secret that the service holds: 32 bytes, from the environment, or from a file that a local start makes.
// Everything else is derived from it (key-vault.ts); it is never logged and never stored in the database.
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const MASTER_KEY_BYTES = 32;

const FILE_NAME = 'master.key';
/** Owner may read and write; nobody else may do anything. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** A key that is no key, or a file that others could read. The message is for the operator and holds no key bytes. */
export class MasterKeyFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MasterKeyFault';
  }
}

/** The 32 bytes of a base64 (or base64url) text; undefined for any other text. */
export function decodeMasterKey(text: string): Uint8Array | undefined {
  const standard = text.trim().replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  const bytes = Buffer.from(standard, 'base64');
  const canonical = bytes.toString('base64').replace(/=+$/, '') === standard;
  return canonical && bytes.length === MASTER_KEY_BYTES ? new Uint8Array(bytes) : undefined;
}

export function newMasterKeyText(): string {
  return randomBytes(MASTER_KEY_BYTES).toString('base64');
}

/**
 * The key of a local start: read from its file under the data folder, made on first use. Two processes that start at
 * once agree, because the file appears whole or not at all. Throws MasterKeyFault for a file that others may read.
 */
export function localMasterKey(dataDirectory: string): Uint8Array {
  mkdirSync(dataDirectory, { recursive: true, mode: FOLDER_MODE });
  const path = join(dataDirectory, FILE_NAME);
  if (!existsSync(path)) makeFile(path);
  return readKeyFile(path);
}

/** For who only looks: makes none. Throws MasterKeyFault as well. */
export function existingLocalMasterKey(dataDirectory: string): Uint8Array | undefined {
  const path = join(dataDirectory, FILE_NAME);
  return existsSync(path) ? readKeyFile(path) : undefined;
}

function readKeyFile(path: string): Uint8Array {
  const { mode } = statSync(path);
  if ((mode & 0o077) !== 0) {
    throw new MasterKeyFault(`${path} can be read by others; set its mode to 0600`);
  }
  const key = decodeMasterKey(readFileSync(path, 'utf8'));
  if (!key) throw new MasterKeyFault(`${path} does not hold 32 bytes in base64`);
  return key;
}

function makeFile(path: string): void {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  // On the disk before anything is sealed under it, or a power cut could keep what is sealed and lose the key.
  writeFileSync(draft, `${newMasterKeyText()}\n`, { mode: FILE_MODE, flag: 'wx', flush: true });
  chmodSync(draft, FILE_MODE); // whatever the umask said
  try {
    linkSync(draft, path); // fails when another process was first; its key is the key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
