// A Mission played until there is something of everything to read.
import { expect } from 'vitest';
import { checkDocument, type DocumentName } from '../../src/protocol/documents/catalogue.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import type { Shown } from './answers.ts';
import { Api, type ApiOptions, path } from './api.ts';

/** Of the one Message in the main Conversation. */
export const TEXT = 'Plan: first the code, then the tests.';
export const TEXTS = { why: 'The order was wrong.', corrected: 'First the tests.', retracted: 'There is no time.' };

const USAGE = 'ext.missionweaveprotocol.core.resource_usage_record';

export interface PlayedMission {
  tenant: Tenant;
  api: Api;
  mission: Mission;
  /** MissionOwner, Coordinator, Worker. */
  olga: ActorKey;
  ada: ActorKey;
  bob: ActorKey;
  /** The path of the Group. */
  group: string;
  /** One WorkItem in each of these states. */
  items: Record<'active' | 'queued' | 'open' | 'offered' | 'verified', string>;
  /** A whole list of the Group, as the Coordinator sees it. */
  list: (below: string) => Promise<Shown[]>;
}

export async function playMission(
  store: AuthorityStore,
  options: Pick<ApiOptions, 'snapshotBlobs' | 'auditBlobs'> = {},
): Promise<PlayedMission> {
  const tenant = await Tenant.create(store);
  const api = new Api(tenant, options);
  const olga = await tenant.human('olga');
  const [ada, bob] = [await tenant.agent('ada'), await tenant.agent('bob')];
  const mission = await Mission.create(tenant, olga, ada);
  const group = `/groups/${path(mission.groupId)}`;
  await mission.join(bob);

  const first = await mission.active(bob);
  await mission.accept(bob, USAGE, { ...first, usageDelta: { modelTokens: 7 } });
  const checkpoint = { phase: 'half way', completedMilestones: ['one'], nextStep: 'two', createdAt: tenant.now() };
  await mission.accept(bob, 'work.checkpoint', { ...first, checkpoint });
  await mission.finish(bob, await mission.start(bob, first.workItemId));

  const second = await mission.active(bob);
  await mission.publish(bob, second, 'more code');
  await mission.accept(bob, USAGE, { ...second, usageDelta: { modelTokens: 5 } });

  const queued = await mission.queued(bob, { executionApproval: 'human_required' });
  const [open, offered] = [await mission.authorize(), await mission.authorize()];
  await mission.offer(offered, [bob]);
  await mission.accept(bob, 'work.propose', { proposalId: id(), contract: mission.contract() });
  const { json } = await api.get(olga, group);
  const messageId = id();
  const conversationId = json.group.mainConversationId;
  await mission.accept(ada, 'message.post', { messageId, conversationId, content: TEXT });
  const corrected = { amendmentId: id(), messageId, reason: TEXTS.why, replacementContent: TEXTS.corrected };
  await mission.accept(ada, 'message.correct', corrected);
  await mission.accept(ada, 'message.retract', { amendmentId: id(), messageId, reason: TEXTS.retracted });
  const items = { active: second.workItemId, queued, open, offered, verified: first.workItemId };
  const list = (below: string) => api.all(ada, `${group}/${below}`);
  return { tenant, api, mission, olga, ada, bob, group, items, list };
}

export function expectValid(name: DocumentName, documents: unknown[]): void {
  expect(documents.length).toBeGreaterThan(0);
  for (const document of documents) expect(checkDocument(name, document)).toMatchObject({ valid: true });
}
