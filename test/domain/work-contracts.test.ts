import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../src/protocol/refusals.ts';
import { readContract } from '../../src/domain/work-contracts.ts';
import { contractOf } from '../support/work-fixtures.ts';

const code = (contract: Record<string, unknown>) => {
  const read = readContract(contract);
  return isRefusal(read) ? read.code : 'read';
};

const REQUIRED = Object.keys(contractOf());

describe('MWP-WRK-001: a Work Contract is complete or refused', () => {
  it('takes the complete contract, and hands on the value that it was given', () => {
    const contract = contractOf();
    expect(readContract(contract)).toBe(contract);
  });

  it.each(REQUIRED)('E-WORK_CONTRACT_INCOMPLETE, MWP-WRK-001: a contract without %s is incomplete', (member) => {
    const { [member]: _gone, ...rest } = contractOf();
    expect(code(rest)).toBe('WORK_CONTRACT_INCOMPLETE');
  });

  it.each([
    ['a deliverable without its schema', { requiredDeliverables: [{ deliverableId: 'x', description: 'x' }] }],
    ['a criterion without Evidence types', { acceptanceCriteria: [{ criterionId: 'x', description: 'x' }] }],
    ['a retry policy without attempts', { retryPolicy: { backoff: 'none', maxDelay: 'PT0S', retryableFailures: [] } }],
    ['a capability without version', { requiredCapabilities: [{ id: 'software.coding' }] }],
  ])('MWP-WRK-001: %s is incomplete', (_, overrides) => {
    expect(code(contractOf(overrides))).toBe('WORK_CONTRACT_INCOMPLETE');
  });

  it('MWP-WRK-002c: prose does not stand in for an absent member', () => {
    const { budget: _gone, ...rest } = contractOf({ goal: 'Spend at most ten euros. '.repeat(50) });
    expect(code(rest)).toBe('WORK_CONTRACT_INCOMPLETE');
  });

  it.each([
    ['an unknown member', { reasoning: 'private' }],
    ['a null member', { goal: null }],
    ['an empty budget', { budget: {} }],
    ['no acceptance criterion', { acceptanceCriteria: [] }],
    ['version 0', { contractVersion: 0 }],
    ['an unknown urgency', { requestedUrgency: 'now' }],
  ])('E-SCHEMA_VALIDATION_FAILED: refuses %s', (_, overrides) => {
    expect(code(contractOf(overrides))).toBe('SCHEMA_VALIDATION_FAILED');
  });
});
