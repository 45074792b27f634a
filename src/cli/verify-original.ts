// `mwp verify --original`: a signed Event or Command that somebody kept, against what was accepted.
import { closeSync, openSync, readSync } from 'node:fs';
import { checkOriginal, readOriginal, type Original } from '../archive/original.ts';
import { storedStanding } from '../archive/original-standing.ts';
import { registryEvidence } from '../archive/historical-evidence.ts';
import { verifyRegistry } from '../archive/verify-registry.ts';
import { readStorageConfig } from '../config.ts';
import { openConfiguredStore } from '../storage.ts';
import { MAX_JSON_BYTES } from '../wire/strict-json.ts';
import { complain, CommandFault, DONE, FAILED, print } from './command-line.ts';

/** The largest Event that is read, and a line end. */
const ORIGINAL_MAXIMUM = 8 * MAX_JSON_BYTES + 2;

export function readOriginalFile(file: string): Original {
  const original = readOriginal(readBounded(file));
  if (typeof original === 'string') throw new CommandFault(`${file} ${original}`);
  return original;
}

export async function verifyOriginal(file: string, slug: string): Promise<number> {
  const original = readOriginalFile(file);
  const store = await openConfiguredStore(readStorageConfig(process.env));
  try {
    const organization = await store.organizations.bySlug(slug);
    if (!organization) throw new CommandFault(`no Organization ${slug} in this database`);
    const { organizationId, authority } = organization;
    const { faults, told } = await store.read(organizationId, async (reader) => {
      const { registry, findings } = await verifyRegistry(organization, reader);
      if (!registry || findings.count > 0)
        return { faults: findings.sentences().map((sentence) => `the Registry: ${sentence}`), told: [] };
      const accepting = { organizationId, authority, evidence: registryEvidence(organizationId, registry) };
      return checkOriginal(original, await storedStanding(original, organizationId, reader), accepting);
    });
    for (const sentence of faults) complain(`${file}: ${sentence}`);
    for (const sentence of told) print(`original: ${sentence}`);
    return faults.length === 0 ? DONE : FAILED;
  } finally {
    await store.close();
  }
}

/** A device or a pipe may have no end. */
function readBounded(file: string): Uint8Array {
  const bytes = Buffer.alloc(ORIGINAL_MAXIMUM + 1);
  let length = 0;
  try {
    const descriptor = openSync(file, 'r');
    try {
      for (let read = -1; read !== 0 && length < bytes.length; length += read)
        read = readSync(descriptor, bytes, length, bytes.length - length, null);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new CommandFault(`${file} cannot be read: ${(error as Error).message}`);
  }
  if (length > ORIGINAL_MAXIMUM) throw new CommandFault(`${file} is larger than any Event`);
  return bytes.subarray(0, length);
}
