// The transactions of acceptances on the local store. The only writer holds every lock there is, so the plan's locks need no
// statement; what the port promises about their order is checked for both engines in group-commit.ts.
import type { OrganizationId } from '../../protocol/ids.ts';
import type { BatchTransaction, StoredBatch, Transact } from '../group-commit.ts';
import type { BatchPlan } from '../batch-plan.ts';
import type { SealRegistry, Transition } from '../port.ts';
import { StoreFault } from '../port.ts';
import type { SqliteConnection } from './connection.ts';
import type { SqliteConnections } from './connections.ts';
import { load } from './loading.ts';
import { currentPolicy } from './policies.ts';
import { admissionsOf, readerOf, receiptOf, streamHeads, textsOf } from './reading.ts';
import { asCardChange } from '../registry-rules.ts';
import { changeRegistry, registryRevision } from './registry.ts';
import { insertDueSeal } from './sealed-audits.ts';
import { eventsOfMessage } from './withheld.ts';
import { writeTransition } from './writing.ts';

/** There is no race to run again for: the writer waits for its lock. */
export function transactions(
  connections: SqliteConnections,
  clock: () => string,
  seal: SealRegistry | undefined,
): Transact {
  return (organizationId, _runs, work) =>
    connections.transact((connection) => {
      connections.pass('turn-taken');
      return work(transactionOf(connections, connection, { organizationId, clock, seal }));
    });
}

function transactionOf(
  connections: SqliteConnections,
  connection: SqliteConnection,
  {
    organizationId,
    clock,
    seal,
  }: { organizationId: OrganizationId; clock: () => string; seal?: SealRegistry | undefined },
): BatchTransaction {
  return {
    open: async (plan) => open(connection, clock(), organizationId, plan),
    load: async (reads, now) => load(connection, organizationId, reads, now),
    texts: async (groupId, commitments) => textsOf(connection, organizationId, groupId, commitments),
    eventsOfMessage: async (message) => eventsOfMessage(connection, organizationId, message),
    lockGroups: async (groupIds) => streamHeads(connection, organizationId, groupIds),
    streamHeads: async (streamIds) => streamHeads(connection, organizationId, streamIds),
    record: () => readerOf(connection, organizationId, clock),
    commit: async (transitions) => {
      for (const transition of transitions) writeAll(connection, organizationId, transition, seal);
      connections.commit();
    },
  };
}

function open(connection: SqliteConnection, now: string, organizationId: OrganizationId, plan: BatchPlan): StoredBatch {
  return {
    now,
    registryRevision: registryRevision(connection, organizationId),
    policy: currentPolicy(connection, organizationId),
    receipts: plan.receipts.flatMap((key) => receiptOf(connection, organizationId, key) ?? []),
    admissions: admissionsOf(connection, organizationId, plan.signingHashes),
    heads: streamHeads(connection, organizationId, plan.groups),
    answers: load(connection, organizationId, plan.reads, now),
  };
}

function writeAll(
  connection: SqliteConnection,
  organizationId: OrganizationId,
  write: Transition,
  seal: SealRegistry | undefined,
): void {
  // Before the rest: its keys may be what the rest was signed with.
  const { registry, acceptedAt: recordedAt } = write;
  const refused = registry && changeRegistry(connection, organizationId, asCardChange(registry), { recordedAt, seal });
  if (refused !== undefined) throw new StoreFault('conflict', `the registry refuses: ${refused}`);
  writeTransition(connection, organizationId, write);
  if (write.auditToSeal) insertDueSeal(connection, organizationId, write.auditToSeal);
}
