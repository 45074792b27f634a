import { describe, expect, it } from 'vitest';
import { COORDINATOR, OTHER_HUMAN, OWNER, RIVAL, STRANGER, WORKER } from '../support/fixtures.ts';
import { hashOf } from '../support/signed-documents.ts';
import { CODE_HASH, evidenceOf, type Overriding } from '../support/work-documents.ts';
import {
  byAgent,
  ITEM,
  itemOf,
  leaseIdOf,
  leasesOf,
  missionRevision,
  only,
  OTHER_ITEM,
  publishedItem,
  submit,
  submittedItem,
} from '../support/work-fixtures.ts';

const TWO_CRITERIA = {
  acceptanceCriteria: [
    { criterionId: 'works', description: 'Works', evidenceRequired: ['deterministic_test', 'schema_validation'] },
    { criterionId: 'reads-well', description: 'Reads well', evidenceRequired: ['human_review'] },
  ],
};

const evidence = (...pieces: Overriding[]) => ({
  evidence: pieces.map((piece, position) =>
    evidenceOf(ITEM, { evidenceId: `urn:test:evidence:${position}`, ...piece }),
  ),
});

const outcomeOf = (pieces: Overriding[], contract: object = {}) => {
  const world = publishedItem({ contract });
  return world.outcome(submit(world, evidence(...pieces)));
};

describe('WT-11: work.submit', () => {
  it('WT-11: waits for review with the submission; execution is released and ownership runs on', () => {
    const world = publishedItem();
    const ownership = leasesOf(world, 'ownership');
    const event = only(world.accept(submit(world)));
    expect(event).toMatchObject({ kind: 'work.submitted', aggregateRevision: 6 });
    const submission = { artifactHashes: [CODE_HASH], evidenceIds: ['urn:test:evidence:1'], submittedAt: world.now };
    expect(event.payload).toMatchObject({ artifactIds: ['urn:test:artifact:1'], submission });
    expect(itemOf(world).workItem).toMatchObject({ state: 'submitted', submission });
    expect(leasesOf(world, 'execution')).toMatchObject([{ state: 'released', closureReason: 'submitted' }]);
    expect(leasesOf(world, 'ownership')).toEqual(ownership);
    expect(missionRevision(world)).toBe(2);
  });

  it('MWP-WRK-026: keeps who stated what about which criterion, under the signing hash, and no free text', () => {
    const world = publishedItem();
    const event = only(world.accept(submit(world)));
    expect(world.view.mustGet('evidence', 'urn:test:evidence:1')).toMatchObject({
      type: 'deterministic_test',
      criterionIds: ['works'],
      result: 'passed',
      generatedBy: WORKER,
      signingHash: (event.payload['evidenceHashes'] as string[])[0],
    });
    expect(JSON.stringify(world.view.all())).not.toContain('Ran the tests');
  });

  describe('MWP-WRK-025a: Evidence for every criterion', () => {
    it.each([
      [
        'all covered',
        [
          { type: 'deterministic_test' },
          { type: 'schema_validation' },
          { type: 'artifact_integrity', criterionIds: ['reads-well'] },
        ],
        'accepted',
      ],
      [
        'one piece for both criteria',
        [{ criterionIds: ['works', 'reads-well'] }, { type: 'schema_validation' }],
        'accepted',
      ],
      [
        'a required type missing',
        [{ type: 'deterministic_test' }, { criterionIds: ['reads-well'] }],
        'INVALID_COMMAND',
      ],
      ['one criterion uncovered', [{ type: 'deterministic_test' }, { type: 'schema_validation' }], 'INVALID_COMMAND'],
      [
        'a criterion covered by a failed result only',
        [
          { type: 'deterministic_test' },
          { type: 'schema_validation' },
          { criterionIds: ['reads-well'], result: 'failed' },
        ],
        'INVALID_COMMAND',
      ],
      [
        'an inconclusive result beside a passed one',
        [{ criterionIds: ['works', 'reads-well'] }, { type: 'schema_validation' }, { result: 'inconclusive' }],
        'accepted',
      ],
    ])('MWP-WRK-025a: answers %s', (_, pieces, outcome) => {
      expect(outcomeOf(pieces, TWO_CRITERIA)).toBe(outcome);
    });
  });

  describe('MWP-WRK-026: what Evidence may say', () => {
    it.each([
      ['no criterion', { criterionIds: [] }, 'SCHEMA_VALIDATION_FAILED'],
      ['a member for reasoning', { reasoning: 'private' }, 'SCHEMA_VALIDATION_FAILED'],
      ['an unknown criterion', { criterionIds: ['works', 'other'] }, 'INVALID_COMMAND'],
      ['another WorkItem', { workItemId: OTHER_ITEM }, 'INVALID_COMMAND'],
      ['another Group', { groupId: 'urn:test:group:9' }, 'INVALID_COMMAND'],
      ['another Mission', { missionId: 'urn:test:mission:9' }, 'INVALID_COMMAND'],
      ['the Mission as its subject', { subject: { type: 'mission', id: 'urn:test:mission:1' } }, 'INVALID_COMMAND'],
      ['another item as its subject', { subject: { type: 'work_item', id: OTHER_ITEM } }, 'INVALID_COMMAND'],
      ['a strange Artifact as its subject', { subject: { type: 'artifact', id: hashOf('e') } }, 'INVALID_COMMAND'],
      ['a published Artifact by hash', { subject: { type: 'artifact', id: CODE_HASH } }, 'accepted'],
      ['a published Artifact by id', { subject: { type: 'artifact', id: 'urn:test:artifact:1' } }, 'accepted'],
      ['a published Artifact', { artifactHashes: [CODE_HASH] }, 'accepted'],
      ['a strange Artifact', { artifactHashes: [hashOf('e')] }, 'INVALID_COMMAND'],
      ['a stranger', { generatedBy: STRANGER }, 'AUTH_FORBIDDEN'],
      ['a human who is no member', { generatedBy: OTHER_HUMAN }, 'AUTH_FORBIDDEN'],
      ['another member', { generatedBy: RIVAL }, 'accepted'],
      ['the owner of the Mission', { generatedBy: OWNER }, 'accepted'],
      ['an unknown service', { generatedBy: { type: 'service', id: 'urn:test:service:ci' } }, 'AUTH_FORBIDDEN'],
    ])('answers Evidence with %s', (_, piece, outcome) => {
      expect(outcomeOf([piece as Overriding])).toBe(outcome);
    });

    it('takes Evidence of a service that the policy knows, and of an input Artifact', () => {
      const world = publishedItem({ contract: { inputArtifacts: [hashOf('e')] } });
      const ci = { type: 'service', id: 'urn:test:service:ci' } as const;
      world.policy.services = [{ serviceId: ci.id, kinds: [], relay: false }];
      const piece = { generatedBy: ci, artifactHashes: [hashOf('e')] };
      expect(world.outcome(submit(world, evidence(piece)))).toBe('accepted');
    });

    it('takes each Evidence id once', () => {
      const same = { evidenceId: 'urn:test:evidence:1' };
      expect(outcomeOf([same, same])).toBe('INVALID_COMMAND');
      const world = publishedItem();
      world.view.set('evidence', 'urn:test:evidence:1', 'urn:g', {} as never);
      expect(world.outcome(submit(world))).toBe('INVALID_STATE_TRANSITION');
      expect(outcomeOf([])).toBe('INVALID_COMMAND');
    });
  });

  it('names Artifacts that were published for the item, each once', () => {
    const world = publishedItem();
    expect(world.outcome(submit(world, { artifactIds: ['urn:test:artifact:2'] }))).toBe('INVALID_COMMAND');
    expect(world.outcome(submit(world, { artifactIds: [] }))).toBe('INVALID_COMMAND');
    const twice = { artifactIds: ['urn:test:artifact:1', 'urn:test:artifact:1'] };
    expect(only(world.accept(submit(world, twice))).payload['artifactIds']).toEqual(['urn:test:artifact:1']);
  });

  it('MWP-WRK-013c, -019b: only the executing owner, under its epoch and current lease, before that ends', () => {
    const world = publishedItem();
    expect(world.outcome(submit(world, { ownershipEpoch: 2 }))).toBe('WORK_STALE_OWNERSHIP');
    expect(world.outcome(submit(world, { executionLeaseId: 'urn:test:lease:old' }))).toBe('WORK_LEASE_EXPIRED');
    const payload = submit(world).payload;
    expect(world.outcome(byAgent(RIVAL, 'work.submit', payload))).toBe('AUTH_FORBIDDEN');
    expect(world.outcome(byAgent(COORDINATOR, 'work.submit', payload))).toBe('AUTH_FORBIDDEN');
    expect(world.outcome(submit(world, {}, { expectedRevision: 4 }))).toBe('REVISION_CONFLICT');
    world.advance(299.999);
    expect(world.outcome(submit(world, {}, { expectedRevision: 5 }))).toBe('accepted');
    world.advance(0.001);
    expect(world.outcome(submit(world))).toBe('WORK_LEASE_EXPIRED');
  });

  it('submits nothing twice', () => {
    const world = submittedItem();
    expect(leaseIdOf(world)).toBe('urn:test:no-lease');
    expect(world.outcome(submit(world))).toBe('INVALID_STATE_TRANSITION');
  });
});
