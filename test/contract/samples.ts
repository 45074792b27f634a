// Tenants, plans and transitions for the store's own suite: the smallest rows that the tables take. They mean nothing;
// what a Command writes is the domain's business.
import { createHash, randomUUID } from 'node:crypto';
import { indexOf } from '../../src/domain/aggregate-index.ts';
import type { AggregateKind, Aggregates } from '../../src/domain/aggregates.ts';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import type {
  AcceptancePlan,
  AdmissionRow,
  AuthorityStore,
  EventRow,
  NewOrganization,
  Opened,
  StreamHead,
  Transition,
} from '../../src/store/port.ts';
import type { WithheldRow } from '../../src/store/port/withheld.ts';

export const AGENT: Principal = { type: 'agent', id: 'urn:agent:1' };
export const HUMAN: Principal = { type: 'human', id: 'urn:human:1' };
export const AUTHORITY: Principal = { type: 'service', id: 'urn:service:authority' };

export const uuid = () => `urn:uuid:${randomUUID()}`;
export const newGroupId = () => uuid() as GroupId;
export const hash = (value: unknown) => `sha256:${createHash('sha256').update(JSON.stringify(value)).digest('hex')}`;

export function newOrganization(name = `acme-${randomUUID().slice(0, 8)}`): NewOrganization {
  return {
    organization: {
      organizationId: `https://${name}.example` as OrganizationId,
      slug: name,
      displayName: name,
      createdAt: '2026-01-01T00:00:00.000Z',
      authority: AUTHORITY,
      identity: { type: 'service', id: 'urn:service:identity' },
      registrar: { type: 'service', id: 'urn:service:registrar' },
    },
    principals: [{ principal: AUTHORITY, displayName: 'Group Authority' }],
    bindings: [binding(AUTHORITY, 'urn:key:authority', 'A'.repeat(43))],
    sealedKeys: [{ keyId: 'urn:key:authority', principal: AUTHORITY, sealed: 'sealed' }],
    policy: DEFAULT_POLICY,
  };
}

export function binding(principal: Principal, keyId: string, publicKey: string) {
  return { keyId, principal, algorithm: 'Ed25519' as const, publicKey, validFrom: '2026-01-01T00:00:00Z' };
}

export async function newTenant(store: AuthorityStore): Promise<OrganizationId> {
  const created = newOrganization();
  const { outcome } = await store.organizations.create(created);
  if (outcome !== 'done') throw new Error('the tenant was refused');
  return created.organization.organizationId;
}

export function planFor(groups: GroupId[], more: Partial<AcceptancePlan> = {}): AcceptancePlan {
  return {
    organization: 'shared',
    groups,
    receipt: { actor: AGENT, actionId: uuid() },
    signingHashes: [],
    reads: [],
    ...more,
  };
}

export interface Draft {
  groupId: string;
  /** The head before; absent: the stream is created. */
  head?: StreamHead | undefined;
  plan: AcceptancePlan;
  now: string;
  events?: number;
  eventKind?: string;
  aggregates?: AggregateDraft[];
  texts?: { commitment: string; value: string }[];
  policyEntries?: number;
  withheld?: WithheldRow[];
  admissions?: AdmissionRow[];
  signingHash?: string;
}

export interface AggregateDraft<K extends AggregateKind = AggregateKind> {
  kind: K;
  id: string;
  groupId?: string;
  version?: number;
  document: Aggregates[K] | Record<string, unknown>;
}

/** A transition of one Group that every adapter takes, unless the draft is meant to be refused. */
export function transitionOf(draft: Draft): Transition {
  const { groupId, head, plan, now } = draft;
  const signingHash = draft.signingHash ?? hash(plan.receipt);
  const count = draft.events ?? 1;
  const position = (head?.position ?? 0) + count;
  const revision = (head?.revision ?? 0) + 1;
  const policyPosition = (head?.policyPosition ?? 0) + (draft.policyEntries ?? 0);
  const events = Array.from({ length: count }, (_, offset) =>
    eventRow(groupId, (head?.position ?? 0) + offset + 1, revision, now, signingHash, draft.eventKind),
  );
  const { actor, actionId } = plan.receipt;
  return {
    acceptedAt: now,
    streams: [
      {
        head: {
          streamId: groupId,
          position,
          revision,
          lastEventAt: now,
          chainHash: hash([head?.chainHash ?? '', position]),
          logHash: hash([head?.logHash ?? '', revision]),
          policyPosition,
          rootGroupId: head?.rootGroupId ?? groupId,
        },
        expectedPosition: head?.position ?? 0,
        streamKind: 'group',
      },
    ],
    events,
    aggregates: (draft.aggregates ?? []).map((aggregate) => aggregateChange(groupId, aggregate)),
    texts: (draft.texts ?? []).map((text) => ({ ...text, eventId: events[0]?.eventId ?? '', groupId })),
    command: {
      signingHash,
      actor,
      actionId,
      kind: 'message.post',
      groupId,
      keyId: 'urn:key:1',
      issuedAt: now,
      body: JSON.stringify({ actionId, text: "a NUL: \u0000, a quote: ', a snowman: ☃" }),
    },
    documents: [],
    admissions: draft.admissions ?? [admissionRow(signingHash, groupId, revision, now)],
    receipt: {
      actor,
      actionId,
      signingHash,
      keyId: 'urn:key:1',
      streamId: groupId,
      revision,
      primaryEventId: events[0]?.eventId ?? '',
      eventIds: events.map(({ eventId }) => eventId),
      acceptedAt: now,
      body: JSON.stringify({ actionId, revision }),
    },
    policyLog: Array.from({ length: draft.policyEntries ?? 0 }, (_, offset) => ({
      groupId,
      position: (head?.policyPosition ?? 0) + offset + 1,
      entryId: uuid(),
      decision: 'granted',
      actor: AUTHORITY,
      occurredAt: now,
      details: '{}',
      eventId: events[0]?.eventId ?? '',
      revision,
    })),
    withheld: draft.withheld ?? [],
  };
}

export function admissionRow(signingHash: string, streamId: string, revision: number, now: string): AdmissionRow {
  const record = { signingHash, acceptedAt: now };
  return {
    signingHash,
    admissionRecordId: uuid(),
    documentKind: 'command',
    keyId: 'urn:key:1',
    principal: AGENT,
    trustedAcceptedAt: now,
    acceptedBy: AUTHORITY,
    streamId,
    revision,
    record: JSON.stringify(record),
  };
}

function eventRow(
  groupId: string,
  position: number,
  revision: number,
  now: string,
  commandHash: string,
  kind = 'message.committed',
): EventRow {
  const eventId = uuid();
  return {
    streamId: groupId,
    position,
    eventId,
    kind,
    groupId,
    aggregateRevision: revision,
    actor: AGENT,
    occurredAt: now,
    commandHash,
    signingHash: hash(eventId),
    keyId: 'urn:key:authority',
    chainHash: hash([groupId, position]),
    admissionRecordId: uuid(),
    trustedAcceptedAt: now,
    revision,
    body: JSON.stringify({ eventId, payload: { text: '\u0000 ☃ "' } }),
  };
}

function aggregateChange(groupId: string, draft: AggregateDraft): Transition['aggregates'][number] {
  const document = draft.document as Aggregates[AggregateKind];
  return {
    kind: draft.kind,
    id: draft.id,
    groupId: draft.groupId ?? groupId,
    expectedVersion: draft.version ?? 0,
    document,
    hash: hash(document),
    index: indexOf(draft.kind, document as never),
  };
}

/** Accepts one transition on a Group, from whatever head it has. */
export async function append(
  store: AuthorityStore,
  organizationId: OrganizationId,
  groupId: GroupId,
  draft: Partial<Draft> & { prepare?: (opened: Opened) => Partial<Draft> } = {},
): Promise<Transition> {
  const plan = draft.plan ?? planFor([groupId]);
  return store.acceptTransition(organizationId, plan, async (opened) => {
    const head = opened.heads.get(groupId);
    const write = transitionOf({ now: opened.now, ...draft, ...draft.prepare?.(opened), groupId, head, plan });
    return { write, result: write };
  });
}
