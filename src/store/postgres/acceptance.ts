// The transactions of acceptances on the hosted store: one call that locks and reads, one that writes and commits; each a
// round trip, for however many share it.
import { completePolicy, type Policy } from '../../domain/policy.ts';
import type { OrganizationId } from '../../protocol/ids.ts';
import { principalKey } from '../../protocol/principals.ts';
import type { BatchPlan } from '../batch-plan.ts';
import { erasuresOf } from '../erasure-records.ts';
import type { AdmissionRecord, ReceiptRecord } from '../evidence-records.ts';
import { admissionFromRecord, receiptFromRecord } from '../evidence-records.ts';
import type { BatchTransaction, StoredBatch, Transact } from '../group-commit.ts';
import type { StoreObserver } from '../observer.ts';
import type { SealRegistry, Transition } from '../port.ts';
import { StoreFault } from '../port.ts';
import { parseStored } from '../stored-json.ts';
import type { HeadRecord } from '../stream-records.ts';
import { headFromRecord } from '../stream-records.ts';
import type { PostgresConnections } from './connections.ts';
import { dueErasuresStatement } from './erasures.ts';
import type { SectionRow } from './loading.ts';
import { answersFrom, loadStatement, readParameters } from './loading.ts';
import { readerOf, streamHeads, textsOf } from './reading.ts';
import { asCardChange } from '../registry-rules.ts';
import { registryChange } from './registry.ts';
import { dueSealStatement } from './sealed-audits.ts';
import { withRetries } from './retries.ts';
import { streams } from './schema.ts';
import type { Row, Statement, Value } from './session.ts';
import { columnsOf } from './statements.ts';
import type { Transaction } from './transaction.ts';
import { READ_COMMITTED } from './transaction.ts';
import { eventsOfMessage, marksStatement } from './withheld.ts';
import { writeStatement } from './writing.ts';

export const OPEN = `SELECT section, body
  FROM mwp.open_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`;
export const OPEN_PARAMETERS = 13;
const LOCK_GROUPS = `SELECT ${columnsOf(streams)} FROM mwp.lock_streams($1, $2)`;

export function transactions(
  connections: PostgresConnections,
  clock: (() => string) | undefined,
  observer: Pick<StoreObserver, 'retried'>,
  seal: SealRegistry | undefined,
): Transact {
  return (organizationId, runs, work) => {
    const once = () =>
      connections.transact('acceptance', async (transaction) => {
        connections.pass('turn-taken');
        transaction.begin(READ_COMMITTED);
        await work(transactionOf(transaction, organizationId, clock, seal));
      });
    return runs === 'retried' ? withRetries(once, observer) : once();
  };
}

function transactionOf(
  transaction: Transaction,
  organizationId: OrganizationId,
  clock: (() => string) | undefined,
  seal: SealRegistry | undefined,
): BatchTransaction {
  return {
    open: async (plan) => {
      const { text, parameters } = openStatement(organizationId, plan, clock?.());
      return openedFrom(plan, await transaction.query<SectionRow>(text, parameters), clock);
    },
    load: async (reads, now) => {
      const { text, parameters } = loadStatement(organizationId, now, reads);
      return answersFrom(reads, await transaction.query<SectionRow>(text, parameters));
    },
    texts: (groupId, commitments) => textsOf(transaction, organizationId, groupId, commitments),
    eventsOfMessage: (message) => eventsOfMessage(transaction, organizationId, message),
    lockGroups: async (groupIds) =>
      (await transaction.query<Row & HeadRecord>(LOCK_GROUPS, [organizationId, groupIds])).map(headFromRecord),
    streamHeads: (streamIds) => streamHeads(transaction, organizationId, streamIds),
    record: () => readerOf(transaction, organizationId, clock),
    commit: (transitions) => commit(transaction, organizationId, transitions, seal),
  };
}

function openStatement(organizationId: OrganizationId, plan: BatchPlan, now: string | undefined): Statement {
  const [ones, lists, recents] = readParameters(plan.reads);
  return {
    text: OPEN,
    parameters: [
      organizationId,
      plan.organization,
      plan.actors.map(principalKey),
      plan.actorMode,
      plan.trees,
      plan.treeMode,
      plan.groups,
      plan.receipts.map(({ actor, actionId }) => ({ ...actor, action: actionId })),
      plan.signingHashes,
      ones,
      orNull(lists),
      orNull(recents),
      now ?? null,
    ],
  };
}

function openedFrom(plan: BatchPlan, rows: SectionRow[], clock: (() => string) | undefined): StoredBatch {
  const bodies = (section: string) => rows.filter((row) => row.section === section).map(({ body }) => body);
  const [registry] = bodies('registry');
  const [policy] = bodies('policy');
  if (registry === undefined || policy === undefined) throw new StoreFault('corrupt', 'no such Organization');
  return {
    now: clock?.() ?? (bodies('clock')[0] as string),
    registryRevision: Number(registry),
    policy: completePolicy(parseStored<Policy>(policy)),
    receipts: bodies('receipt').map((body) => receiptFromRecord(JSON.parse(body) as ReceiptRecord)),
    admissions: bodies('admission').map((body) => admissionFromRecord(JSON.parse(body) as AdmissionRecord)),
    heads: bodies('head').map((body) => headFromRecord(JSON.parse(body) as HeadRecord)),
    answers: answersFrom(plan.reads, rows),
  };
}

async function commit(
  transaction: Transaction,
  organizationId: OrganizationId,
  transitions: Transition[],
  seal: SealRegistry | undefined,
): Promise<void> {
  const statements: Statement[] = [];
  for (const { registry, acceptedAt: recordedAt } of transitions) {
    if (registry === undefined) continue;
    const ruling = await registryChange(transaction, organizationId, asCardChange(registry), {
      recordedAt,
      seal,
    });
    if (ruling.refused !== undefined) throw new StoreFault('conflict', `the registry refuses: ${ruling.refused}`);
    statements.push(...ruling.statements);
  }
  statements.push(writeStatement(organizationId, transitions));
  for (const { auditToSeal } of transitions) {
    if (auditToSeal) statements.push(dueSealStatement(organizationId, auditToSeal));
  }
  // After what they mark and what orders them.
  const marks = transitions.flatMap(({ withheld }) => withheld);
  if (marks.length > 0) statements.push(marksStatement(organizationId, marks));
  const erasures = erasuresOf(marks);
  if (erasures.length > 0) statements.push(dueErasuresStatement(organizationId, erasures));
  await transaction.commit(...statements);
}

/** Most Commands read no list and count nothing. */
function orNull(reads: readonly object[]): Value {
  return reads.length === 0 ? null : reads;
}
