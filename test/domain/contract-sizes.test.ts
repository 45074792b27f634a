// Lists of a contract that the schema leaves open, each with what it costs later.
import { describe, expect, it } from 'vitest';
import { byAgent, contractOf, offer, openItem, authorize, staffedMission } from '../support/work-fixtures.ts';
import { CODING, WORKER } from '../support/fixtures.ts';
import { createHash } from 'node:crypto';

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const criteria = (count: number) =>
  times(count, (index) => ({ criterionId: `c${index}`, description: 'x', evidenceRequired: ['policy_check'] }));
const sha256 = (index: number) => `sha256:${createHash('sha256').update(String(index)).digest('hex')}`;

const LISTS: [member: string, maximum: number, list: (count: number) => unknown[]][] = [
  ['acceptanceCriteria', 500, criteria],
  ['requiredCapabilities', 100, (count) => times(count, () => CODING)],
  ['inputArtifacts', 500, (count) => times(count, sha256)],
];

describe.each(LISTS)('%s', (member, maximum, list) => {
  it('MWP-WRK-001: is bounded in a new contract, a proposed one and a revised one', () => {
    const world = staffedMission();
    const [fits, exceeds] = [maximum, maximum + 1].map((count) => ({ [member]: list(count) }));
    const propose = (contract: object) =>
      byAgent(WORKER, 'work.propose', { proposalId: 'urn:test:proposal', contract: contractOf(contract) });
    const outcomes = [fits, exceeds].map((contract = {}) => [
      world.outcome(authorize({ contract })),
      world.outcome(propose(contract)),
    ]);
    expect(outcomes).toEqual([
      ['accepted', 'accepted'],
      ['INVALID_COMMAND', 'INVALID_COMMAND'],
    ]);
    const revised = contractOf({ contractVersion: 2, ...exceeds });
    expect(openItem().outcome(offer({ contract: revised }))).toBe('INVALID_COMMAND');
  });
});

describe('dependencies', () => {
  it('MWP-WRK-001: more of them than can be looked up are refused, whether they exist or not', () => {
    const dependencyWorkItemIds = times(501, (index) => `urn:test:work:${index}`);
    const contract = { dependencyWorkItemIds };
    expect(staffedMission().decide(authorize({ contract }))).toMatchObject({
      code: 'INVALID_COMMAND',
      message: 'the contract names more than 500 dependencies',
    });
  });
});
