// Single things of one Group: the Group itself, a WorkItem, an Event, its replay, its state.
import { Hono, type Context } from 'hono';
import { shownState } from '../../authority/queries/group-state.ts';
import { shownGroup } from '../../authority/queries/missions.ts';
import { shownWorkItems, workItemById } from '../../authority/queries/work-items.ts';
import { catchUpPage, replayPage, visibleEvent, withheldOriginal, type ReplayPage } from '../../delivery/replay.ts';
import { sightOf } from '../../delivery/sight.ts';
import { checkActive, checkFull, seesWorkItem } from '../../delivery/visibility.ts';
import { isRefusal, type Refusal } from '../../protocol/refusals.ts';
import type { AuthorityStore } from '../../store/port.ts';
import { HttpRefusal, notFound, orThrow } from '../errors.ts';
import { jsonText } from '../json-text.ts';
import { declared } from '../openapi/operation.ts';
import { historyQuery, idParameter, numberedPageQuery } from '../parameters.ts';
import { snapshotPath } from '../snapshots/path.ts';
import type { TenantEnv } from '../tenancy.ts';
import { GROUP_READS } from './operations.ts';
import { groupRead, tenantRead, type GroupScope, type TenantScope } from './scope.ts';

export function groupReadRoutes({ store }: { store: AuthorityStore }): Hono<TenantEnv> {
  const routes = new Hono<TenantEnv>();
  routes.get('/groups/:groupId', declared(GROUP_READS.group, groupRead(store, group)));
  routes.get('/groups/:groupId/work-items/:workItemId', declared(GROUP_READS.workItem, groupRead(store, workItem)));
  routes.get('/groups/:groupId/state', declared(GROUP_READS.state, groupRead(store, state)));
  routes.get('/groups/:groupId/events', declared(GROUP_READS.events, groupRead(store, events)));
  routes.get('/groups/:groupId/history', declared(GROUP_READS.history, groupRead(store, history)));
  routes.get('/groups/:groupId/events/:eventId', declared(GROUP_READS.event, tenantRead(store, event)));
  return routes;
}

async function group({ c, reader, groupId, sight }: GroupScope): Promise<Response> {
  allow(checkActive(sight));
  return c.json(await shownGroup(reader, groupId));
}

async function workItem({ c, reader, groupId, sight }: GroupScope): Promise<Response> {
  const workItemId = idParameter(c, 'workItemId');
  const item = workItemId === undefined ? undefined : await workItemById(reader, groupId, workItemId);
  if (!item || !seesWorkItem(sight, item)) throw notFound('WorkItem in this Group');
  const [shown] = await shownWorkItems(reader, groupId, [item]);
  return c.json(shown as object);
}

async function state({ c, reader, organization, groupId, sight }: GroupScope): Promise<Response> {
  allow(checkFull(sight));
  return c.json(await shownState(reader, organization.organizationId, groupId));
}

async function events(scope: GroupScope): Promise<Response> {
  const { c, reader, organization, groupId } = scope;
  const addressOf = ({ snapshotId }: { snapshotId: string }) => snapshotPath(organization.slug, groupId, snapshotId);
  const page = orThrow(await catchUpPage(reader, groupId, { ...scope, addressOf }, numberedPageQuery(c)));
  const { throughSequence, headSequence } = page;
  return eventPage(c, page, throughSequence < headSequence ? throughSequence : undefined);
}

/** All that there ever was, wherever it lies; `next` is what to ask `from` then. */
async function history(scope: GroupScope): Promise<Response> {
  const { c, reader, groupId } = scope;
  const { from, to, limit } = historyQuery(c);
  const page = await replayPage(reader, groupId, scope, { after: from - 1, through: to, limit });
  const { throughSequence, headSequence } = page;
  return eventPage(c, page, throughSequence < Math.min(to, headSequence) ? throughSequence + 1 : undefined);
}

function eventPage(c: Context, { bodies, throughSequence, headSequence }: ReplayPage, next?: number): Response {
  const more = next === undefined ? '' : `,"next":"${next}"`;
  const numbers = `"throughSequence":${throughSequence},"headSequence":${headSequence}`;
  return jsonText(c, `{"items":[${bodies.join(',')}],${numbers}${more}}`);
}

/** Where a Membership shows nothing, an auditor still gets what was withheld from everybody. */
async function event(scope: TenantScope): Promise<Response> {
  const { c, reader, organization, principal } = scope;
  const groupId = idParameter(c, 'groupId') ?? '';
  const eventId = idParameter(c, 'eventId') ?? '';
  const sight = await sightOf(reader, groupId === '' ? undefined : groupId, principal);
  const body = isRefusal(sight)
    ? await withheldOriginal(reader, groupId, scope, eventId)
    : await visibleEvent(reader, groupId, { organization, sight }, eventId);
  if (body === undefined) throw isRefusal(sight) ? new HttpRefusal(sight) : notFound('Event in this Group');
  return jsonText(c, body);
}

function allow(refusal: Refusal | undefined): void {
  if (refusal) throw new HttpRefusal(refusal);
}
