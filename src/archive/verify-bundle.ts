// An exported Group proven with no database: the same walk as over a store, with the keys that came along. That these are
// all there were is attested by the authority's statement, and can be known from nothing else.
import { registrySnapshot } from '../trust/registry-snapshot.ts';
import type { KeyBinding } from '../trust/evidence.ts';
import { canonicalText } from '../wire/canonical.ts';
import { BundleFault, type HeaderLine, type StatementLine } from './bundle-lines.ts';
import { BundleReading } from './bundle-reading.ts';
import { statementFault } from './bundle-statement.ts';
import { BundledSnapshots } from './bundled-snapshots.ts';
import { checkHead, isOrganizationStream } from './check-state.ts';
import { historicalEvidence, type HistoricalEvidence } from './historical-evidence.ts';
import { checkOriginal, type Original } from './original.ts';
import { StandingWatch } from './original-standing.ts';
import { verifyStream, type VerifiedStream } from './verify-stream.ts';

/** Signers of one Group. Each costs a point check of a millisecond. */
const KEYS_MAXIMUM = 20_000;

export interface BundleReport {
  header: HeaderLine;
  statement: StatementLine;
  /** base64url, of the key that signed the statement. */
  authorityKey: string | undefined;
  events: number;
  /** undefined: of a format that has none. */
  snapshots: number | undefined;
  stateHash: string | undefined;
  faults: number;
  /** Bounded. */
  sentences: string[];
  notes: string[];
  /** What is proven of the original that was asked for; its faults are among the others. */
  original: string[];
}

/** Throws BundleFault for what cannot be read on. `authorityKey`: that must have signed, base64url. */
export async function verifyBundle(
  chunks: AsyncIterable<Uint8Array>,
  options: { authorityKey?: string; original?: Original; progress?: (events: number) => void } = {},
): Promise<BundleReport> {
  const reading = new BundleReading(chunks);
  const header = await reading.header();
  const { organizationId, authority, groupId } = header;
  if (isOrganizationStream(groupId)) throw new BundleFault('line 1: not the id of a Group');
  const keys = await readKeys(reading);
  const { progress, authorityKey } = options;
  const accepting = { organizationId, authority, evidence: evidenceOf(organizationId, keys) };
  const snapshots = reading.hasSnapshots ? new BundledSnapshots(groupId, accepting) : undefined;
  const { original } = options;
  const watch = original && new StandingWatch(original, organizationId, groupId);
  const verified = await verifyStream(
    {
      streamId: groupId,
      pages: watch ? watch.over(reading.transitions()) : reading.transitions(),
      ...(snapshots && { passed: (at, findings) => snapshots.passed(at, findings) }),
      ...(progress && { progress }),
    },
    accepting,
  );
  const { statement, lines, sha256 } = await reading.statement();
  const { findings, fold } = verified;
  checkHead(verified, { head: header.head, streamKind: 'group' });
  const stateHash = fold.whole ? fold.stateHash(organizationId, groupId) : undefined;
  checkStatement({ header, statement, lines, sha256, stateHash }, verified);
  const key = keys.get(statement.keyId);
  const fault = await statementFault(statement, key, authority);
  if (fault !== undefined) findings.fault(`the authority's statement cannot be believed: ${fault}`);
  if (authorityKey !== undefined && key?.publicKey !== authorityKey) {
    findings.fault('the statement is signed by another key than --authority-key');
  }
  const asked = original && (await checkOriginal(original, watch?.found, accepting));
  for (const sentence of asked?.faults ?? []) findings.fault(`the original: ${sentence}`);
  return {
    header,
    statement,
    authorityKey: key?.publicKey,
    events: verified.visited.events,
    snapshots: snapshots?.count,
    stateHash,
    faults: findings.count,
    sentences: findings.sentences(),
    notes: findings.notes,
    original: asked?.told ?? [],
  };
}

async function readKeys(reading: BundleReading): Promise<Map<string, KeyBinding>> {
  const keys = new Map<string, KeyBinding>();
  for (;;) {
    const line = await reading.takeIf('key');
    if (!line) return keys;
    if (keys.size === KEYS_MAXIMUM) throw new BundleFault(`more than ${KEYS_MAXIMUM} keys`);
    if (keys.has(line.binding.keyId)) throw new BundleFault(`the key ${line.binding.keyId} stands there twice`);
    keys.set(line.binding.keyId, line.binding);
  }
}

function evidenceOf(organizationId: string, keys: ReadonlyMap<string, KeyBinding>): HistoricalEvidence {
  const registry = registrySnapshot(organizationId, [...keys.values()]);
  if (!registry.ok) throw new BundleFault(`the keys are not those of an Organization: ${registry.reason}`);
  const { bindings } = registry.snapshot;
  return historicalEvidence((keyId) =>
    Promise.resolve({
      outcome: 'established',
      organizationId,
      registryRevision: 0,
      applicability: 'historical',
      binding: bindings.get(keyId),
    }),
  );
}

interface Stated {
  header: HeaderLine;
  statement: StatementLine;
  lines: number;
  sha256: string;
  stateHash: string | undefined;
}

function checkStatement({ header, statement, lines, sha256, stateHash }: Stated, { findings }: VerifiedStream): void {
  const differing = (['organizationId', 'groupId', 'exportedAt', 'head'] as const).filter(
    (name) => canonicalText(header[name]) !== canonicalText(statement[name]),
  );
  if (differing.length > 0) findings.fault(`header and statement differ in ${differing.join(', ')}`);
  if (statement.lines !== lines || statement.sha256 !== sha256) {
    findings.fault('the lines are not those that the authority signed for');
  }
  if (stateHash !== undefined && statement.stateHash !== stateHash) {
    findings.fault('the state is not the one that the authority signed for');
  }
}
