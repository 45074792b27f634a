// The Events of a Group, as any member fetches them, before the official codec: signatures, sequences, command hashes, the
// documents inside; and the receipts that name them.
import type { Group, SentCommand } from './group.ts';
import { documentsIn, schemaFaults, type DocumentName } from './normative.ts';
import type { JsonObject, Principal, VerifiedDocument } from './sdk.ts';
import { BASE } from './stage.ts';

interface Verified {
  readonly event: JsonObject;
  readonly verified: VerifiedDocument;
}

const PAGE_SIZE = 7;
const LEASE_REVOKED = 'ext.missionweaveprotocol.core.work_execution_lease_revoked';
const SIGNED: ReadonlySet<DocumentName> = new Set([
  'agent-card',
  'approval',
  'artifact',
  'context-package',
  'evidence',
]);

export async function checkHistory(group: Group, title: string): Promise<void> {
  const events = await fetchEvents(group, title);
  const verified = await verifyEach(group, events);
  checkCommandHashes(group, verified, title);
  checkDocuments(group, events, title);
  for (const sent of group.accepted) await checkReceipt(group, sent, verified);
}

async function fetchEvents({ stage, groupId, cast }: Group, title: string): Promise<JsonObject[]> {
  const events: JsonObject[] = [];
  let page: JsonObject;
  do {
    const path = `${BASE}/groups/${encodeURIComponent(groupId)}/events?after=${events.length}&limit=${PAGE_SIZE}`;
    page = await stage.traffic.must({ path, token: cast.olga.token });
    events.push(...(page['items'] as JsonObject[]));
  } while (page['next'] !== undefined && (page['items'] as unknown[]).length > 0);
  const headSequence = Number(page['headSequence']);
  const sequences = events.map(({ sequence }) => sequence);
  const gapless = Array.from({ length: headSequence }, (_, index) => index + 1);
  stage.checks.equal(`${title}: the sequence runs from 1 to ${headSequence} without a gap`, sequences, gapless);
  return events;
}

/** Each Event once more by its id: that answer is its exact bytes. */
async function verifyEach({ stage, groupId, cast }: Group, events: readonly JsonObject[]): Promise<Verified[]> {
  const { sdk, checks, traffic, registry, authority } = stage;
  const verified: Verified[] = [];
  for (const event of events) {
    const { eventId, kind, sequence } = event as { eventId: string; kind: string; sequence: number };
    const path = `${BASE}/groups/${encodeURIComponent(groupId)}/events/${encodeURIComponent(eventId)}`;
    const { text } = await traffic.send({ path, token: cast.olga.token });
    try {
      const result = sdk.codec.verify('event', Buffer.from(text, 'utf8'), { resolve: () => registry });
      verified.push({ event, verified: result });
      checks.equal(
        `Event ${sequence} ${kind} verifies, is canonical, and by the Group Authority`,
        { text, listed: sdk.canonicalizeJson(event), signer: result.resolvedKey.principal },
        { text: sdk.canonicalizeJson(result.document), listed: text, signer: authority },
      );
    } catch (error) {
      const { wireCode, auditDetail } = error as { wireCode?: string; auditDetail?: unknown };
      checks.none(`Event ${sequence} ${kind} verifies`, [
        `${wireCode ?? String(error)} ${JSON.stringify(auditDetail)}`,
      ]);
    }
  }
  return verified;
}

function checkCommandHashes({ stage, accepted }: Group, verified: readonly Verified[], title: string): void {
  const sent = new Map(accepted.map((command) => [command.signingHash, command]));
  const faults = verified.flatMap(({ event }) => {
    const { commandHash, kind, correlationId, sequence } = event as Record<string, string>;
    const actor = event['actor'] as Principal;
    const command = sent.get(commandHash ?? '');
    // A session that opens revokes leases by a Command of the authority's own, which nobody here sent.
    if (command === undefined && kind === LEASE_REVOKED && actor.type === 'service') return [];
    if (command === undefined) return [`${sequence} ${kind}: ${commandHash} is of no Command that was sent`];
    return command.document['correlationId'] === correlationId ? [] : [`${sequence} ${kind}: another correlationId`];
  });
  stage.checks.none(`${title}: every commandHash is the official signing hash of a Command that was sent`, faults);
}

function checkDocuments({ stage, accepted }: Group, events: readonly JsonObject[], title: string): void {
  const { sdk, checks, registry } = stage;
  const faults = new Map<DocumentName, string[]>();
  const counts = new Map<DocumentName, number>();
  const unverified: string[] = [];
  const unknown: string[] = [];
  const signedTexts = new Set(
    accepted.flatMap(({ document }) => signedDocumentsIn(document).map(sdk.canonicalizeJson)),
  );
  for (const { sequence, kind, payload } of events) {
    const strangers: string[] = [];
    for (const { name, at, value } of documentsIn(payload as JsonObject, strangers)) {
      const where = `${String(sequence)} ${String(kind)}${at}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      faults.set(name, [...(faults.get(name) ?? []), ...schemaFaults(sdk, name, value, where)]);
      if (!SIGNED.has(name)) continue;
      const text = sdk.canonicalizeJson(value);
      try {
        sdk.codec.verify(name, Buffer.from(text, 'utf8'), { resolve: () => registry });
      } catch (error) {
        unverified.push(`${where}: ${String(error)}`);
      }
      if (!signedTexts.has(text)) unverified.push(`${where}: not what was sent`);
    }
    unknown.push(...strangers.map((at) => `${String(sequence)} ${String(kind)}${at}`));
  }
  for (const [name, count] of counts) {
    checks.none(`${title}: ${count} × ${name} in Events fit the official schema`, faults.get(name) ?? []);
  }
  checks.none(`${title}: signed documents in Events are those that were sent, and verify`, unverified);
  checks.none(`${title}: every object in a payload is a normative document or known to be ours`, unknown);
}

function signedDocumentsIn({ payload }: JsonObject): JsonObject[] {
  return documentsIn(payload as JsonObject, [])
    .filter(({ name }) => SIGNED.has(name))
    .map(({ value }) => value);
}

async function checkReceipt(group: Group, sent: SentCommand, verified: readonly Verified[]): Promise<void> {
  const { sdk, checks, traffic } = group.stage;
  const { actor, kind, document, signingHash, answer } = sent;
  const { receipt, events } = answer.body as { receipt: JsonObject; events: JsonObject[] };
  const hashes = new Map(verified.map(({ event, verified: { signingHash: hash } }) => [event['eventId'], hash]));
  const named = receipt['events'] as readonly JsonObject[];
  const path = `${BASE}/receipts/${encodeURIComponent(String(document['actionId']))}`;
  const again = await traffic.send({ path, token: actor.token });
  const repeated = await group.send(actor, Buffer.from(sdk.canonicalizeJson(document), 'utf8'));
  const texts = `{"receipt":${sdk.canonicalizeJson(receipt)},"events":[${events.map(sdk.canonicalizeJson).join(',')}]`;
  checks.equal(
    `the receipt of ${kind} by ${actor.name}: canonical, official hashes, the same when read and when sent again`,
    {
      text: answer.text,
      commandHash: receipt['commandHash'],
      eventHashes: named.map((event) => event['signingHash']),
      read: sdk.canonicalizeJson(again.body['receipt']),
      repeated: [sdk.canonicalizeJson(repeated.body['receipt']), repeated.body['duplicate']],
    },
    {
      text: `${texts},"duplicate":false}`,
      commandHash: signingHash,
      eventHashes: named.map((event) => hashes.get(event['eventId'])),
      read: sdk.canonicalizeJson(receipt),
      repeated: [sdk.canonicalizeJson(receipt), true],
    },
  );
}
