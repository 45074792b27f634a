// The lists of one Group. Each names its kind, what of it the caller sees, and how an item is shown.
import { Hono } from 'hono';
import { shownAccounts } from '../../authority/queries/budgets.ts';
import { conversationById, shownConversations } from '../../authority/queries/conversations.ts';
import { shownPolicyEntry } from '../../authority/queries/group-state.ts';
import { shownMembership } from '../../authority/queries/memberships.ts';
import { shownMessages } from '../../authority/queries/messages.ts';
import { visiblePage } from '../../authority/queries/page.ts';
import { shownApprovals, shownArtifacts, shownEvidence } from '../../authority/queries/signed-documents.ts';
import { ownInputs, shownProposals, shownWorkItems, workItemById } from '../../authority/queries/work-items.ts';
import * as visibility from '../../delivery/visibility.ts';
import type { AuthorityStore } from '../../store/port.ts';
import { HttpRefusal, notFound } from '../errors.ts';
import { pageText } from '../json-text.ts';
import { declared } from '../openapi/operation.ts';
import { idParameter, numberedPageQuery, pageQuery, stateQuery } from '../parameters.ts';
import type { TenantEnv } from '../tenancy.ts';
import { GROUP_LISTS, LEASE_STATES, PROPOSAL_STATES, WORK_ITEM_STATES } from './operations.ts';
import { groupRead, type GroupScope } from './scope.ts';

export function groupListRoutes({ store }: { store: AuthorityStore }): Hono<TenantEnv> {
  const routes = new Hono<TenantEnv>();
  routes.get('/groups/:groupId/work-items', declared(GROUP_LISTS.workItems, groupRead(store, workItems)));
  routes.get('/groups/:groupId/memberships', declared(GROUP_LISTS.memberships, groupRead(store, memberships)));
  routes.get(
    '/groups/:groupId/conversations',
    declared(GROUP_LISTS.conversations, groupRead(store, activeOnly(conversations))),
  );
  routes.get(
    '/groups/:groupId/conversations/:conversationId/messages',
    declared(GROUP_LISTS.messages, groupRead(store, activeOnly(messages))),
  );
  routes.get('/groups/:groupId/leases', declared(GROUP_LISTS.leases, groupRead(store, activeOnly(leases))));
  routes.get('/groups/:groupId/budgets', declared(GROUP_LISTS.budgets, groupRead(store, activeOnly(budgets))));
  routes.get('/groups/:groupId/artifacts', declared(GROUP_LISTS.artifacts, groupRead(store, activeOnly(artifacts))));
  routes.get('/groups/:groupId/evidence', declared(GROUP_LISTS.evidence, groupRead(store, activeOnly(evidence))));
  routes.get('/groups/:groupId/approvals', declared(GROUP_LISTS.approvals, groupRead(store, activeOnly(approvals))));
  routes.get('/groups/:groupId/proposals', declared(GROUP_LISTS.proposals, groupRead(store, activeOnly(proposals))));
  routes.get('/groups/:groupId/policy-log', declared(GROUP_LISTS.policyLog, groupRead(store, policyLog)));
  return routes;
}

function activeOnly(answer: (scope: GroupScope) => Promise<Response>): (scope: GroupScope) => Promise<Response> {
  return (scope) => {
    const refusal = visibility.checkActive(scope.sight);
    if (refusal) throw new HttpRefusal(refusal);
    return answer(scope);
  };
}

async function workItems({ c, reader, groupId, sight }: GroupScope): Promise<Response> {
  const states = stateQuery(c, WORK_ITEM_STATES);
  const page = await visiblePage(reader, {
    where: { kind: 'work_item', groupId, ...(states && { states }) },
    window: pageQuery(c),
    sees: (item) => visibility.seesWorkItem(sight, item),
    show: (items) => shownWorkItems(reader, groupId, items),
  });
  return pageText(c, page);
}

async function memberships({ c, reader, groupId, sight }: GroupScope): Promise<Response> {
  const page = await visiblePage(reader, {
    where: { kind: 'membership', groupId },
    window: pageQuery(c),
    sees: (membership) => visibility.seesMembership(sight, membership),
    show: async (found) => found.map(shownMembership),
  });
  return pageText(c, page);
}

async function conversations({ c, reader, groupId, sight }: GroupScope): Promise<Response> {
  const page = await visiblePage(reader, {
    where: { kind: 'conversation', groupId },
    window: pageQuery(c),
    workItemIdOf: (conversation) => conversation.primaryWorkItemId,
    loadWorkItems: sight.level !== 'full',
    sees: (conversation, workItem) => visibility.seesConversation(sight, conversation, workItem),
    show: (found) => shownConversations(reader, groupId, found),
  });
  return pageText(c, page);
}

async function messages({ c, reader, groupId, sight, principal }: GroupScope): Promise<Response> {
  const conversationId = idParameter(c, 'conversationId');
  const conversation = conversationId && (await conversationById(reader, groupId, conversationId));
  if (!conversation) throw notFound('Conversation in this Group');
  const { primaryWorkItemId } = conversation;
  const item = primaryWorkItemId === undefined ? undefined : await workItemById(reader, groupId, primaryWorkItemId);
  if (!visibility.seesConversation(sight, conversation, item)) throw notFound('Conversation in this Group');
  const page = await visiblePage(reader, {
    where: { kind: 'message', groupId, parent: conversation.conversationId },
    window: pageQuery(c),
    sees: (message) => visibility.seesMessage(sight, message),
    show: (found) => shownMessages(reader, { groupId, principal }, found),
  });
  return pageText(c, page);
}

async function leases({ c, reader, groupId, sight }: GroupScope): Promise<Response> {
  const states = stateQuery(c, LEASE_STATES);
  const page = await visiblePage(reader, {
    where: { kind: 'lease', groupId, ...(states && { states }) },
    window: pageQuery(c),
    workItemIdOf: (lease) => lease.workItemId,
    loadWorkItems: sight.level !== 'full',
    sees: (lease, workItem) => visibility.seesLease(sight, lease, workItem),
    show: async (found) => found.map((lease) => ({ lease })),
  });
  return pageText(c, page);
}

async function budgets({ c, reader, groupId, sight }: GroupScope): Promise<Response> {
  const page = await visiblePage(reader, {
    where: { kind: 'budget_account', groupId },
    window: pageQuery(c),
    workItemIdOf: ({ owner }) => (owner.type === 'work_item' ? owner.id : undefined),
    loadWorkItems: sight.level !== 'full',
    sees: (account, workItem) => visibility.seesAccount(sight, account, workItem),
    show: (found) => shownAccounts(reader, found),
  });
  return pageText(c, page);
}

async function artifacts({ c, reader, groupId, sight, principal }: GroupScope): Promise<Response> {
  const inputs = sight.level === 'full' ? new Set<string>() : await ownInputs(reader, groupId, principal.id);
  const page = await visiblePage(reader, {
    where: { kind: 'artifact', groupId },
    window: pageQuery(c),
    workItemIdOf: (artifact) => artifact.workItemId,
    loadWorkItems: sight.level !== 'full',
    sees: (artifact, workItem) => visibility.seesArtifact(sight, artifact, workItem, inputs),
    show: (found) => shownArtifacts(reader, found),
  });
  return pageText(c, page);
}

async function evidence({ c, reader, groupId, sight }: GroupScope): Promise<Response> {
  const page = await visiblePage(reader, {
    where: { kind: 'evidence', groupId },
    window: pageQuery(c),
    workItemIdOf: (found) => found.workItemId,
    loadWorkItems: sight.level !== 'full',
    sees: (_found, workItem) => visibility.seesWithWorkItem(sight, workItem),
    show: (found) => shownEvidence(reader, found),
  });
  return pageText(c, page);
}

async function approvals({ c, reader, groupId, sight }: GroupScope): Promise<Response> {
  const page = await visiblePage(reader, {
    where: { kind: 'approval', groupId },
    window: pageQuery(c),
    workItemIdOf: (approval) => approval.workItemId,
    loadWorkItems: sight.level !== 'full',
    sees: (_approval, workItem) => visibility.seesWithWorkItem(sight, workItem),
    show: (found) => shownApprovals(reader, found),
  });
  return pageText(c, page);
}

async function proposals({ c, reader, groupId, sight }: GroupScope): Promise<Response> {
  const states = stateQuery(c, PROPOSAL_STATES);
  const page = await visiblePage(reader, {
    where: { kind: 'work_proposal', groupId, ...(states && { states }) },
    window: pageQuery(c),
    sees: (proposal) => visibility.seesProposal(sight, proposal),
    show: (found) => shownProposals(reader, groupId, found),
  });
  return pageText(c, page);
}

async function policyLog({ c, reader, groupId, sight }: GroupScope): Promise<Response> {
  const refusal = visibility.checkFull(sight);
  if (refusal) throw new HttpRefusal(refusal);
  const { after, limit } = numberedPageQuery(c);
  const rows = await reader.policyLog(groupId, after, limit + 1);
  const looked = rows.slice(0, limit);
  const items = looked.map((row) => JSON.stringify(shownPolicyEntry(row)));
  const last = looked.at(-1);
  return pageText(c, rows.length > limit && last ? { items, next: String(last.position) } : { items });
}
