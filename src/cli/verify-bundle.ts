// `mwp verify --bundle`: an exported Group, with no database and no key of ours.
import { createReadStream } from 'node:fs';
import { BundleFault } from '../archive/bundle-lines.ts';
import type { Original } from '../archive/original.ts';
import { verifyBundle, type BundleReport } from '../archive/verify-bundle.ts';
import { complain, CommandFault, DONE, FAILED, print } from './command-line.ts';
import { Progress } from './progress.ts';

const CHUNK_BYTES = 1_048_576;

export async function verifyBundleFile(
  file: string,
  authorityKey: string | undefined,
  original?: Original,
): Promise<number> {
  const progress = new Progress(file);
  let report: BundleReport;
  try {
    const chunks = createReadStream(file, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>;
    report = await verifyBundle(chunks, {
      ...(authorityKey !== undefined && { authorityKey }),
      ...(original && { original }),
      progress: (events) => progress.add(events),
    });
  } catch (error) {
    progress.clear();
    if (error instanceof BundleFault) throw new CommandFault(`${file}: ${error.message}`);
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw new CommandFault(`${file} cannot be read: ${message}`);
    throw error;
  }
  progress.clear();
  tell(report);
  if (report.faults === 0) for (const sentence of report.original) print(`original: ${sentence}`);
  return report.faults === 0 ? DONE : FAILED;
}

function tell({
  header,
  statement,
  authorityKey,
  events,
  snapshots,
  stateHash,
  faults,
  sentences,
  notes,
}: BundleReport): void {
  for (const sentence of sentences) complain(sentence);
  for (const note of notes) print(`note: ${note}`);
  print(`Group ${header.groupId} of ${header.organizationId}, exported at ${header.exportedAt}`);
  print(`${events} Events, revision ${statement.head.revision}, state ${stateHash ?? 'not folded'}, ${faults} faults`);
  if (faults > 0) return;
  print(
    snapshots === undefined ? 'of a format without snapshots' : `${snapshots} signed snapshots of the Group are in it`,
  );
  print(`completeness attested by the authority at Registry revision ${statement.registryRevision}`);
  print(`signed by ${header.authority.id} with key ${statement.keyId}, public key ${authorityKey}`);
}
