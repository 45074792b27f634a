// What a caller reads about itself: /me, its Missions, the receipts of its Commands; and Agent Cards, which any
// principal of the Organization may read.
import { Hono } from 'hono';
import { receiptOf } from '../../authority/queries/receipts.ts';
import { sessionEpochOf } from '../../authority/queries/sessions.ts';
import { shownAgentCard } from '../../authority/queries/signed-documents.ts';
import { membershipsOf, shownMembership } from '../../authority/queries/memberships.ts';
import { groupsById, missionById, missionsOfGroups, shownMission } from '../../authority/queries/missions.ts';
import { deliverable, type DeliveredBody } from '../../delivery/rendered.ts';
import { sightOf } from '../../delivery/sight.ts';
import { checkActive, groupNotFound, judgeMembership, seesEvent, type Sight } from '../../delivery/visibility.ts';
import { isRefusal, type Refusal } from '../../protocol/refusals.ts';
import type { AuthorityStore, EventRow } from '../../store/port.ts';
import { HttpRefusal, notFound, orThrow } from '../errors.ts';
import { jsonText, pageText } from '../json-text.ts';
import { declared } from '../openapi/operation.ts';
import { idParameter, pageQuery } from '../parameters.ts';
import type { TenantEnv } from '../tenancy.ts';
import { OWN_READS } from './operations.ts';
import { tenantRead, type TenantScope } from './scope.ts';

export function ownReadRoutes({ store }: { store: AuthorityStore }): Hono<TenantEnv> {
  const routes = new Hono<TenantEnv>();
  routes.get('/me', declared(OWN_READS.me, tenantRead(store, me)));
  routes.get('/missions', declared(OWN_READS.missions, tenantRead(store, missions)));
  routes.get('/missions/:missionId', declared(OWN_READS.mission, tenantRead(store, mission)));
  routes.get('/receipts/:actionId', declared(OWN_READS.receipt, tenantRead(store, receipt)));
  routes.get('/agents/:agentId', declared(OWN_READS.agent, tenantRead(store, agent)));
  return routes;
}

async function me({ c, reader, organization, principal }: TenantScope): Promise<Response> {
  const { organizationId } = organization;
  const { memberships, next } = await membershipsOf(reader, principal, pageQuery(c));
  const session = principal.type === 'agent' ? { sessionEpoch: await sessionEpochOf(reader, principal.id) } : {};
  const shown = memberships.map(shownMembership);
  return c.json({ organizationId, principal, ...session, memberships: shown, ...(next !== undefined && { next }) });
}

/** Pages over the caller's Memberships, so a page can hold fewer Missions than were looked at. */
async function missions({ c, reader, principal }: TenantScope): Promise<Response> {
  const { memberships, next } = await membershipsOf(reader, principal, pageQuery(c));
  const groups = await groupsById(
    reader,
    memberships.map(({ groupId }) => groupId),
  );
  const now = await reader.now();
  const visible = memberships.filter((membership) => {
    const standing = judgeMembership(groups.get(membership.groupId), membership, now);
    return !isRefusal(standing) && !checkActive(standing);
  });
  const items: string[] = [];
  const groupIds = visible.map(({ groupId }) => groupId);
  for (const found of await missionsOfGroups(reader, groupIds)) {
    items.push(JSON.stringify(await shownMission(reader, found)));
  }
  return pageText(c, next === undefined ? { items } : { items, next });
}

/** A Mission of a Group that the caller may not know of is as unknown as one that does not exist. */
async function mission({ c, reader, principal }: TenantScope): Promise<Response> {
  const missionId = idParameter(c, 'missionId');
  const found = missionId === undefined ? undefined : await missionById(reader, missionId);
  if (!found) throw new HttpRefusal(groupNotFound());
  const sight = orThrow(await sightOf(reader, found.mission.groupId, principal));
  const refusal = checkActive(sight);
  if (refusal) throw new HttpRefusal(refusal);
  return c.json(await shownMission(reader, found));
}

async function receipt(scope: TenantScope): Promise<Response> {
  const { c, reader, principal } = scope;
  const actionId = idParameter(c, 'actionId');
  const found = actionId === undefined ? undefined : await receiptOf(reader, principal, actionId);
  if (!found) throw notFound('receipt of the caller');
  const bodies = await visibleBodies(found.events, scope);
  return jsonText(c, `{"receipt":${found.body},"events":[${bodies.join(',')}]}`);
}

/** A service was authorised by policy for its own Command and sees what it did; others see by their Membership. */
async function visibleBodies(
  events: EventRow[],
  { reader, organization, principal }: TenantScope,
): Promise<DeliveredBody[]> {
  const sights = new Map<string, Sight | Refusal>();
  const visible: EventRow[] = [];
  for (const event of events) {
    const { groupId } = event;
    const sight = sights.get(groupId) ?? (await sightOf(reader, groupId, principal));
    sights.set(groupId, sight);
    const isOwn = groupId === '' || principal.type === 'service';
    if (isOwn || (!isRefusal(sight) && seesEvent(sight, event))) visible.push(event);
  }
  return deliverable(reader, visible, { organization, principal });
}

async function agent({ c, reader }: TenantScope): Promise<Response> {
  const agentId = idParameter(c, 'agentId');
  const card = agentId === undefined ? undefined : await shownAgentCard(reader, agentId);
  if (!card) throw notFound('Agent with a Card');
  return c.json(card);
}
