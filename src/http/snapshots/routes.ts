// Snapshots of one Group: taken on request, read, and their state streamed. Who sees a Group whole and auditors see them; to
// others there are none (decision 11).
import { Hono } from 'hono';
import { linkIn } from '../../archive/snapshot/gather.ts';
import { isOutdated } from '../../archive/snapshot/outdated.ts';
import { SnapshotsBusy, type SnapshotBlobs, type Snapshots, type TakenSnapshot } from '../../archive/snapshot/ports.ts';
import { stateStream } from '../../archive/snapshot/stream.ts';
import { sightOf } from '../../delivery/sight.ts';
import { checkFull, groupNotFound, type Sight } from '../../delivery/visibility.ts';
import { isAuditor } from '../../domain/policy.ts';
import { refuse } from '../../protocol/refusals.ts';
import {
  StoreFault,
  type AuthorityStore,
  type OrganizationRow,
  type Reader,
  type SnapshotRow,
} from '../../store/port.ts';
import { fail, HttpRefusal, notFound, orThrow } from '../errors.ts';
import { jsonText } from '../json-text.ts';
import { declared } from '../openapi/operation.ts';
import { idParameter } from '../parameters.ts';
import { inTenant, tenantRead, type TenantScope } from '../reads/scope.ts';
import type { TenantEnv } from '../tenancy.ts';
import { snapshotSubpath } from './path.ts';
import { READ_LATEST, READ_SNAPSHOT, READ_STATE, TAKE } from './operations.ts';

export interface SnapshotRouteParts {
  store: AuthorityStore;
  snapshots: Snapshots;
  snapshotBlobs: SnapshotBlobs;
}

/** Milliseconds; a snapshot of a large Group takes some seconds. */
const BUSY_RETRY_AFTER = 5_000;

export function snapshotRoutes({ store, snapshots, snapshotBlobs }: SnapshotRouteParts): Hono<TenantEnv> {
  const routes = new Hono<TenantEnv>();
  routes.post(
    '/groups/:groupId/snapshots',
    declared(TAKE, async (c) => {
      const groupId = await inTenant(c, store, mayTake);
      const taken = await takenOf(snapshots, c.get('organization'), groupId);
      const text = await inTenant(c, store, ({ reader }) => shown(reader, taken.row));
      c.status(taken.isNew ? 201 : 200);
      return jsonText(c, text);
    }),
  );
  routes.get(
    '/groups/:groupId/snapshots/latest',
    declared(
      READ_LATEST,
      tenantRead(store, async (scope) => {
        const groupId = await readable(scope);
        return jsonText(scope.c, await shown(scope.reader, found(await scope.reader.latestSnapshot(groupId))));
      }),
    ),
  );
  routes.get(
    '/groups/:groupId/snapshots/:snapshotId',
    declared(
      READ_SNAPSHOT,
      tenantRead(store, async (scope) => jsonText(scope.c, await shown(scope.reader, await named(scope)))),
    ),
  );
  routes.get(
    '/groups/:groupId/snapshots/:snapshotId/state',
    declared(READ_STATE, async (c) => {
      // The database is done with before the first byte: who reads slowly holds no transaction.
      const row = await inTenant(c, store, restorable);
      const { organizationId } = c.get('organization');
      const lines = stateStream(row, organizationId, snapshotBlobs);
      // What can be wrong with all of it is told as a fault, and not as a stream that breaks off.
      const first = await lines.next();
      c.header('Content-Type', 'application/x-ndjson');
      return c.body(bytesOf(first, lines));
    }),
  );
  return routes;
}

async function takenOf(snapshots: Snapshots, organization: OrganizationRow, groupId: string): Promise<TakenSnapshot> {
  try {
    const taken = await snapshots.takeSnapshot(organization, groupId);
    if (!taken) throw new HttpRefusal(groupNotFound());
    return taken;
  } catch (error) {
    if (!(error instanceof SnapshotsBusy)) throw error;
    throw new HttpRefusal(refuse('RATE_LIMITED', error.message, { retryAfterMs: BUSY_RETRY_AFTER }));
  }
}

/** Answers the Group's id. */
async function mayTake(scope: TenantScope): Promise<string> {
  const { groupId, sight } = await standing(scope);
  if (sight === 'auditor') return groupId;
  const refusal = checkFull(sight);
  if (refusal) throw new HttpRefusal(refusal);
  if (sight.roles.some((role) => role === 'mission_owner' || role === 'coordinator')) return groupId;
  throw fail('AUTH_FORBIDDEN', 'the owner and the Coordinator of the Mission and auditors take snapshots');
}

/** Answers the Group's id. To who does not see all of it, there is nothing here. */
async function readable(scope: TenantScope): Promise<string> {
  const { groupId, sight } = await standing(scope);
  if (sight === 'auditor' || sight.level === 'full') return groupId;
  throw noSuchSnapshot();
}

async function standing({ c, reader, principal }: TenantScope): Promise<{ groupId: string; sight: Sight | 'auditor' }> {
  const groupId = idParameter(c, 'groupId');
  if (groupId !== undefined && isAuditor(await reader.policy(), principal)) {
    if (!(await reader.stream(groupId))) throw new HttpRefusal(groupNotFound());
    return { groupId, sight: 'auditor' };
  }
  return { groupId: groupId ?? '', sight: orThrow(await sightOf(reader, groupId, principal)) };
}

async function named(scope: TenantScope): Promise<SnapshotRow> {
  const groupId = await readable(scope);
  const snapshotId = idParameter(scope.c, 'snapshotId');
  return found(snapshotId === undefined ? undefined : await scope.reader.snapshot(groupId, snapshotId));
}

async function restorable(scope: TenantScope): Promise<SnapshotRow> {
  const row = await named(scope);
  if (isOutdated(row, await scope.reader.latestSnapshot(row.groupId)))
    throw notFound('state any more; restore the latest snapshot');
  return row;
}

function found(row: SnapshotRow | undefined): SnapshotRow {
  if (!row) throw noSuchSnapshot();
  return row;
}

function noSuchSnapshot(): HttpRefusal {
  return notFound('snapshot of this Group');
}

/** The signed document byte for byte. */
async function shown(reader: Reader, row: SnapshotRow): Promise<string> {
  const { groupId, snapshotId, artifactHash: snapshotArtifactHash, body, signingHash } = row;
  const admission = await reader.admission(signingHash);
  if (!admission) throw new StoreFault('corrupt', `admissions: that of the snapshot ${snapshotId} is missing`);
  const statePath = `${snapshotSubpath(groupId, snapshotId)}/state`;
  const more = JSON.stringify({ statePacks: linkIn(row).statePacks, statePath }).slice(1);
  const details = `{"snapshotArtifactHash":"${snapshotArtifactHash}","admissionRecord":${admission.record},${more}`;
  return `{"snapshot":${body},"details":${details}}`;
}

/** Lines as they are asked for; a fault ends the stream with an error, so that the answer does not look whole. */
function bytesOf(first: IteratorResult<string>, rest: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  let next: Promise<IteratorResult<string>> | undefined = Promise.resolve(first);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const line = await (next ?? rest.next());
      next = undefined;
      if (line.done === true) controller.close();
      else controller.enqueue(Buffer.from(line.value, 'utf8'));
    },
    async cancel() {
      await rest.return(undefined);
    },
  });
}
