// Writes one Group as a bundle, out of one snapshot: proven first, then read once more and written line by line, so that
// what the authority signs for is whole and nothing is held in memory but a page and the state.
import { createHash } from 'node:crypto';
import type { EventRow, OrganizationRow, Reader } from '../store/port.ts';
import type { Signer } from '../trust/signing.ts';
import { BUNDLE_FORMAT, BundleFault, type BundleLine } from './bundle-lines.ts';
import { signStatement } from './bundle-statement.ts';
import { isOrganizationStream } from './check-state.ts';
import { erasesCommand, isErased, standInOf } from './erased.ts';
import { registryEvidence, type HistoricalEvidence } from './historical-evidence.ts';
import type { RecordedTransition } from './recorded.ts';
import { StoredSnapshots } from './snapshot/recorded.ts';
import { storedTransitions } from './store-source.ts';
import type { CheckSeal, Registry } from '../trust/registry.ts';
import { verifyStored } from './verify-organization.ts';
import { verifyRegistry } from './verify-registry.ts';

export interface GroupToExport {
  organization: Pick<OrganizationRow, 'organizationId' | 'authority'>;
  groupId: string;
  signer: Signer;
  /** When the signer's key was valid: a proof may take longer than a rotation. */
  exportedAt: string;
  /** Resolves when more may come. */
  write: (text: string) => Promise<void>;
  progress?: (events: number) => void;
  checkSeal?: CheckSeal;
}

export interface Exported {
  events: number;
  stateHash: string;
  registryRevision: number;
  sha256: string;
}

/** Throws BundleFault for a Group that is not there or that does not stand up to its own proof. */
export async function exportGroup(reader: Reader, group: GroupToExport): Promise<Exported> {
  const { organization, groupId, signer, exportedAt, progress } = group;
  const { organizationId, authority } = organization;
  const head = isOrganizationStream(groupId) ? undefined : await reader.stream(groupId);
  if (!head) throw new BundleFault(`no Group ${groupId} in this Organization`);
  const { registry, findings } = await verifyRegistry(organization, reader, group.checkSeal);
  if (!registry || findings.count > 0)
    throw new BundleFault(`the Registry does not stand up to mwp verify: ${findings.sentences().join('; ')}`);
  const { evidence, used } = recordingUse(registryEvidence(organizationId, registry));
  const watch = progress ? { progress } : {};
  const { report } = await verifyStored(
    { head, streamKind: 'group' },
    { organizationId, authority, evidence },
    reader,
    watch,
  );
  const { stateHash, sentences } = report;
  if (sentences.length > 0 || stateHash === undefined) {
    throw new BundleFault(`the Group does not stand up to mwp verify, and is not exported: ${sentences.join('; ')}`);
  }
  const output = new Output(group.write);
  await output.line({ format: BUNDLE_FORMAT, line: 'header', organizationId, authority, groupId, exportedAt, head });
  const beside = new BesideTransitions(groupId, reader);
  const registryRevision = await writeKeys(registry, [...used.add(signer.keyId)].sort(), output);
  for await (const page of storedTransitions(groupId, reader)) {
    for (const transition of page.map(withoutErased)) {
      for (const line of linesOf(transition, groupId)) await output.line(line);
      for await (const line of beside.after(transition.events)) await output.line(line);
    }
  }
  const { lines, sha256 } = output.soFar();
  const stated = { organizationId, groupId, exportedAt, registryRevision, head, stateHash, lines, sha256 };
  await output.line(signStatement(stated, signer));
  return { events: report.events, stateHash, registryRevision, sha256 };
}

/** Which keys the proof asked for: those of all signers. */
function recordingUse(inner: HistoricalEvidence): { evidence: HistoricalEvidence; used: Set<string> } {
  const used = new Set<string>();
  const resolve: HistoricalEvidence['resolve'] = (organizationId, keyId) => {
    used.add(keyId);
    return inner.resolve(organizationId, keyId);
  };
  return { evidence: { ...inner, resolve }, used };
}

async function writeKeys(registry: Registry, keyIds: readonly string[], output: Output): Promise<number> {
  for (const keyId of keyIds) {
    const binding = registry.binding(keyId);
    if (!binding) throw new BundleFault(`the key ${keyId} is bound to nobody`);
    await output.line({ line: 'key', binding });
  }
  return registry.revision;
}

/** An export holds nothing that is erased, though the bytes may not be taken out here yet. Throws BundleFault. */
function withoutErased(transition: RecordedTransition): RecordedTransition {
  if (!erasesCommand(transition)) return transition;
  const { events, command, documents } = transition;
  const bodiless = <Row extends { body: string }>(row: Row): Row => ({ ...row, body: '' });
  for (const event of events) {
    if (isErased(transition, event) && !standInOf(transition, event)?.admission)
      throw new BundleFault(`the Event at ${event.position} is being erased, and its rendition is not made yet`);
  }
  return {
    ...transition,
    events: events.map((event) => (isErased(transition, event) ? bodiless(event) : event)),
    command: command && { ...command, row: bodiless(command.row) },
    documents: new Map([...documents].map(([hash, row]) => [hash, bodiless(row)])),
  };
}

function* linesOf(transition: RecordedTransition, groupId: string): Generator<BundleLine> {
  const { revision, logHash = '', command, documents, admissions, events, receipt, policyLog } = transition;
  yield { line: 'transition', revision, logHash };
  if (command) {
    yield { line: 'command', row: command.row };
    for (const { signingHash } of command.embedded) {
      const row = documents.get(signingHash);
      if (row) yield { line: 'document', row };
    }
    for (const hash of [command.row.signingHash, ...command.embedded.map(({ signingHash }) => signingHash)]) {
      const row = admissions.get(hash);
      if (row) yield { line: 'admission', row };
    }
  }
  for (const row of events) yield { line: 'event', row };
  // A receipt that another stream keeps tells of other Groups, and this Group's log does not count it.
  if (receipt?.streamId === groupId) yield { line: 'receipt', row: receipt };
  for (const row of policyLog) yield { line: 'policy', row };
  // Originals that are redacted stand above: an export is the operator's act. Whoever passes it on knows by these what is withheld.
  for (const row of transition.withheld) yield { line: 'withheld', row };
  for (const { row, admission } of transition.renditions) if (admission) yield { line: 'rendition', row, admission };
}

/** What is of the end of a transition, and stands after it. */
class BesideTransitions {
  private readonly groupId: string;
  private readonly reader: Reader;
  private readonly snapshots: StoredSnapshots;
  /** Of the segment that comes next; undefined: all are told. */
  private sealedThrough: number | undefined = 0;

  constructor(groupId: string, reader: Reader) {
    this.groupId = groupId;
    this.reader = reader;
    this.snapshots = new StoredSnapshots(groupId, reader);
  }

  async *after(events: readonly EventRow[]): AsyncGenerator<BundleLine> {
    const position = events.at(-1)?.position ?? 0;
    if (this.sealedThrough === 0) await this.nextSegment(1);
    if (this.sealedThrough === position) {
      yield { line: 'segment', lastSequence: position };
      await this.nextSegment(position + 1);
    }
    for await (const { row, admission } of this.snapshots.through(position)) {
      if (admission) yield { line: 'snapshot', row, admission };
    }
  }

  private async nextSegment(from: number): Promise<void> {
    const [next] = await this.reader.segmentsFrom(this.groupId, from, 1);
    this.sealedThrough = next?.lastSequence;
  }
}

class Output {
  private readonly hash = createHash('sha256');
  private lines = 0;
  private readonly write: (text: string) => Promise<void>;

  constructor(write: (text: string) => Promise<void>) {
    this.write = write;
  }

  async line(line: BundleLine): Promise<void> {
    const text = `${JSON.stringify(line)}\n`;
    this.lines += 1;
    this.hash.update(text);
    await this.write(text);
  }

  soFar(): { lines: number; sha256: string } {
    return { lines: this.lines, sha256: this.hash.copy().digest('hex') };
  }
}
