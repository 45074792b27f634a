// One acceptance on the local store. The only writer holds every lock there is, so the plan's locks need no statement;
// what the port promises about their order is still checked, so that a mistake shows on both engines.
import type { OrganizationId } from '../../protocol/ids.ts';
import { lockedGroups } from '../lock-order.ts';
import type { Acceptance, AcceptanceOutcome, AcceptancePlan, Opened, StreamHead, Transition } from '../port.ts';
import { StoreFault } from '../port.ts';
import type { SqliteConnection } from './connection.ts';
import type { SqliteConnections } from './connections.ts';
import { load } from './loading.ts';
import { currentPolicy } from './policies.ts';
import { admissionsOf, receiptOf, streamHeads, textsOf } from './reading.ts';
import { asCardChange } from '../registry-rules.ts';
import { changeRegistry, registryRevision } from './registry.ts';
import { writeTransition } from './writing.ts';

export function acceptTransition<Result>(
  connections: SqliteConnections,
  clock: () => string,
  organizationId: OrganizationId,
  plan: AcceptancePlan,
  decide: (opened: Opened, acceptance: Acceptance) => Promise<AcceptanceOutcome<Result>>,
): Promise<Result> {
  return connections.write(organizationId, async (connection) => {
    connections.pass('turn-taken');
    const opened = open(connection, clock(), organizationId, plan);
    const { write, result } = await decide(opened, acceptanceOf(connection, organizationId, plan, opened));
    if (write !== undefined) writeAll(connection, organizationId, write);
    return { commit: write !== undefined, result };
  });
}

function open(connection: SqliteConnection, now: string, organizationId: OrganizationId, plan: AcceptancePlan): Opened {
  const receipt = receiptOf(connection, organizationId, plan.receipt);
  return {
    now,
    registryRevision: registryRevision(connection, organizationId),
    policy: currentPolicy(connection, organizationId),
    ...(receipt === undefined ? {} : { receipt }),
    admissions: admissionsOf(connection, organizationId, plan.signingHashes),
    heads: byStreamId(streamHeads(connection, organizationId, plan.groups)),
    loaded: load(connection, organizationId, plan.reads, now),
  };
}

function acceptanceOf(
  connection: SqliteConnection,
  organizationId: OrganizationId,
  plan: AcceptancePlan,
  opened: Opened,
): Acceptance {
  const locked = lockedGroups(plan.groups);
  return {
    load: async (reads) => load(connection, organizationId, reads, opened.now),
    texts: async (groupId, commitments) => textsOf(connection, organizationId, groupId, commitments),
    lockGroups: async (groupIds) => {
      locked.add(groupIds);
      const heads = byStreamId(streamHeads(connection, organizationId, groupIds));
      for (const [id, head] of heads) opened.heads.set(id, head);
      return heads;
    },
    streamHeads: async (streamIds) => byStreamId(streamHeads(connection, organizationId, streamIds)),
  };
}

function writeAll(connection: SqliteConnection, organizationId: OrganizationId, write: Transition): void {
  // Before the rest: its keys may be what the rest was signed with.
  const refused = write.registry && changeRegistry(connection, organizationId, asCardChange(write.registry));
  if (refused !== undefined) throw new StoreFault('conflict', `the registry refuses: ${refused}`);
  writeTransition(connection, organizationId, write);
}

function byStreamId(heads: StreamHead[]): Map<string, StreamHead> {
  return new Map(heads.map((head) => [head.streamId, head]));
}
