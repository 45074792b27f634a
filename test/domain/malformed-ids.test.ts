// Reads are named before embedded documents and contracts are known to be well-formed. Whatever stands there instead of
// an id must neither throw nor reach a store, which may not take it (PostgreSQL refuses a NUL in any text).
import { describe, expect, it } from 'vitest';
import { preparePayload } from '../../src/domain/decide.ts';
import { commandKindOf } from '../../src/domain/commands/catalogue.ts';
import type { Command } from '../../src/domain/decider.ts';
import { readKey } from '../../src/domain/reads.ts';
import { byCoordinator, byOwner, WORKER } from '../support/fixtures.ts';
import {
  acceptResult,
  activeItem,
  authorize,
  basisOf,
  byAgent,
  cited,
  contractOf,
  ITEM,
  offer,
  submit,
} from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

const NO_IDS = {
  'an object that hides its own toString': { toString: 1, valueOf: 1 },
  'an object without a prototype': JSON.parse('{"__proto__":null,"toString":null,"valueOf":null}') as unknown,
  'a NUL': 'urn:test:\u0000',
  'a blank': 'urn:test:a agent urn:test:b',
  'an array': ['urn:test:a'],
  null: null,
  'a text beyond the length of ids': `urn:test:${'x'.repeat(10_000)}`,
};

const DRAFTS: Record<string, (no: unknown, world: World) => CommandDraft> = {
  'mission.approve': (no) => byOwner('mission.approve', { approval: { approvalId: no } }),
  'mission.request_changes': (no) =>
    byOwner('mission.request_changes', { missionRevision: 1, feedback: 'x', approval: { approvalId: no } }),
  'approval.grant_execution': (no) =>
    byOwner('approval.grant_execution', {
      workItemId: ITEM,
      ownershipEpoch: 1,
      operations: ['run'],
      approval: { approvalId: no },
    }),
  'artifact.publish': (no) =>
    byAgent(WORKER, 'artifact.publish', {
      artifact: { artifactId: no, workItemId: no, sourceArtifactHashes: [no] },
      ownershipEpoch: 1,
      executionLeaseId: 'urn:test:lease',
    }),
  'work.submit': (no, world) => submit(world, { evidence: evidence(no) }),
  'work.accept_result': (no) => acceptResult({ evidence: evidence(no) }),
  'work.fail': (no, world) => byAgent(WORKER, 'work.fail', { ...cited(world), reason: 'x', evidence: evidence(no) }),
  'membership.change': (no) =>
    byCoordinator('membership.change', {
      principal: WORKER,
      roles: ['reviewer'],
      contextPackage: { generatedBy: { id: no } },
    }),
  'work.offer': (no) =>
    offer({ selectionBasis: basisOf(), contextPackage: { generatedBy: no }, contract: references(no) }),
  'work.authorize': (no) => authorize({ contract: references(no) }),
  'work.propose': (no) =>
    byCoordinator('work.propose', { proposalId: 'urn:test:proposal', contract: contractOf(references(no)) }),
  'ext.missionweaveprotocol.registry.agent_card_register': (no) => ({
    kind: 'ext.missionweaveprotocol.registry.agent_card_register',
    actor: { type: 'service', id: 'urn:test:service' },
    payload: { card: { agentId: no } },
  }),
};

function evidence(no: unknown): unknown[] {
  return [{ evidenceId: no, generatedBy: { type: 'agent', id: no } }, { generatedBy: { type: no, id: WORKER.id } }];
}

function references(no: unknown): object {
  return { dependencyWorkItemIds: [no], inputArtifacts: [no] };
}

function namedReads(draft: CommandDraft): string[] {
  const kind = commandKindOf(draft.kind);
  if (!kind) throw new Error(`no such kind here: ${draft.kind}`);
  const prepared = preparePayload(kind, draft as Command);
  if (!prepared.payload.ok) throw new Error(prepared.payload.refusal.message);
  return kind.reads({ command: draft as Command, payload: prepared.payload.value }).map(readKey);
}

describe.each(Object.entries(DRAFTS))('%s', (_kind, draftOf) => {
  it.each(Object.entries(NO_IDS))(
    'MWP-FND-008a: %s in place of an id is refused, and nothing is read by it',
    (_what, no) => {
      const world = activeItem();
      const draft = draftOf(no, world);
      for (const key of namedReads(draft)) {
        expect(key.length).toBeLessThan(1_500);
        expect(key).not.toContain('\u0000');
        expect(key).not.toContain('urn:test:b');
      }
      expect(world.outcome(draft)).not.toBe('accepted');
    },
  );
});
