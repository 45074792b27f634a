// One acceptance on the hosted store: one call that locks and reads, one that writes and commits; each a round trip.
import type { Policy } from '../../domain/policy.ts';
import type { OrganizationId } from '../../protocol/ids.ts';
import type { AdmissionRecord, ReceiptRecord } from '../evidence-records.ts';
import { admissionFromRecord, receiptFromRecord } from '../evidence-records.ts';
import { lockedGroups } from '../lock-order.ts';
import type { Acceptance, AcceptanceOutcome, AcceptancePlan, Opened, StreamHead, Transition } from '../port.ts';
import { StoreFault } from '../port.ts';
import { parseStored } from '../stored-json.ts';
import type { HeadRecord } from '../stream-records.ts';
import { headFromRecord } from '../stream-records.ts';
import type { PostgresConnections } from './connections.ts';
import type { SectionRow } from './loading.ts';
import { loadStatement, loadedFrom, readParameters } from './loading.ts';
import { streamHeads, textsOf } from './reading.ts';
import { asCardChange } from '../registry-rules.ts';
import { registryChange } from './registry.ts';
import { streams } from './schema.ts';
import type { Row, Statement } from './session.ts';
import { columnsOf } from './statements.ts';
import type { Transaction } from './transaction.ts';
import { READ_COMMITTED } from './transaction.ts';
import { writeStatement } from './writing.ts';

export const OPEN = `SELECT section, body
  FROM mwp.open_acceptance($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`;
export const OPEN_PARAMETERS = 16;
const LOCK_GROUPS = `SELECT ${columnsOf(streams)} FROM mwp.lock_groups($1, $2)`;

export function acceptTransition<Result>(
  connections: PostgresConnections,
  clock: (() => string) | undefined,
  organizationId: OrganizationId,
  plan: AcceptancePlan,
  decide: (opened: Opened, acceptance: Acceptance) => Promise<AcceptanceOutcome<Result>>,
): Promise<Result> {
  return connections.accept(organizationId, plan.groups[0], async (transaction) => {
    transaction.begin(READ_COMMITTED);
    const { text, parameters } = openStatement(organizationId, plan, clock?.());
    const opened = openedFrom(await transaction.query<SectionRow>(text, parameters), clock);
    const { write, result } = await decide(opened, acceptanceOf(transaction, organizationId, plan, opened));
    if (write !== undefined) await commitAll(transaction, organizationId, write);
    return result;
  });
}

function openStatement(organizationId: OrganizationId, plan: AcceptancePlan, now: string | undefined): Statement {
  const { actor, tree, receipt } = plan;
  return {
    text: OPEN,
    parameters: [
      organizationId,
      plan.organization,
      actor?.principal.type ?? null,
      actor?.principal.id ?? null,
      actor?.mode ?? null,
      tree?.groupId ?? null,
      tree?.mode ?? null,
      plan.groups,
      receipt.actor.type,
      receipt.actor.id,
      receipt.actionId,
      plan.signingHashes,
      ...readParameters(plan.reads),
      now ?? null,
    ],
  };
}

function openedFrom(rows: SectionRow[], clock: (() => string) | undefined): Opened {
  const bodies = (section: string) => rows.filter((row) => row.section === section).map(({ body }) => body);
  const [registry] = bodies('registry');
  const [policy] = bodies('policy');
  if (registry === undefined || policy === undefined) throw new StoreFault('corrupt', 'no such Organization');
  const [receipt] = bodies('receipt').map((body) => receiptFromRecord(JSON.parse(body) as ReceiptRecord));
  return {
    now: clock?.() ?? (bodies('clock')[0] as string),
    registryRevision: Number(registry),
    policy: parseStored<Policy>(policy),
    ...(receipt === undefined ? {} : { receipt }),
    admissions: bodies('admission').map((body) => admissionFromRecord(JSON.parse(body) as AdmissionRecord)),
    heads: byStreamId(bodies('head').map((body) => headFromRecord(JSON.parse(body) as HeadRecord))),
    loaded: loadedFrom(rows),
  };
}

function acceptanceOf(
  transaction: Transaction,
  organizationId: OrganizationId,
  plan: AcceptancePlan,
  opened: Opened,
): Acceptance {
  const locked = lockedGroups(plan.groups);
  return {
    load: async (reads) => {
      const { text, parameters } = loadStatement(organizationId, opened.now, reads);
      return loadedFrom(await transaction.query<SectionRow>(text, parameters));
    },
    texts: (groupId, commitments) => textsOf(transaction, organizationId, groupId, commitments),
    lockGroups: async (groupIds) => {
      locked.add(groupIds);
      const rows = await transaction.query<Row & HeadRecord>(LOCK_GROUPS, [organizationId, groupIds]);
      const heads = byStreamId(rows.map(headFromRecord));
      for (const [id, head] of heads) opened.heads.set(id, head);
      return heads;
    },
    streamHeads: async (streamIds) => byStreamId(await streamHeads(transaction, organizationId, streamIds)),
  };
}

async function commitAll(transaction: Transaction, organizationId: OrganizationId, write: Transition): Promise<void> {
  const statements: Statement[] = [];
  if (write.registry !== undefined) {
    const ruling = await registryChange(transaction, organizationId, asCardChange(write.registry));
    if (ruling.refused !== undefined) throw new StoreFault('conflict', `the registry refuses: ${ruling.refused}`);
    statements.push(...ruling.statements);
  }
  await transaction.commit(...statements, writeStatement(organizationId, write));
}

function byStreamId(heads: StreamHead[]): Map<string, StreamHead> {
  return new Map(heads.map((head) => [head.streamId, head]));
}
