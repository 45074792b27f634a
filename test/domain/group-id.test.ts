import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../src/protocol/refusals.ts';
import { executedCommandKinds, commandKindOf } from '../../src/domain/commands/catalogue.ts';
import { activeItem, cited } from '../support/work-fixtures.ts';

const SERVICE = { type: 'service', id: 'urn:test:service:meter' } as const;
const USAGE = 'ext.missionweaveprotocol.core.resource_usage_record';

describe('Commands without a Group', () => {
  it('MWP-EVT-001b: usage metered by a service without groupId, which the schema of extension kinds allows, is refused', () => {
    const world = activeItem();
    world.policy.services = [{ serviceId: SERVICE.id, kinds: [USAGE], relay: false }];
    const draft = { kind: USAGE, actor: SERVICE, payload: { ...cited(world), usageDelta: { modelTokens: 1 } } };
    expect(world.outcome(draft)).toBe('INVALID_COMMAND');
    expect(world.outcome({ ...draft, groupId: 'urn:test:group:1' })).toBe('accepted');
  });

  it.each(executedCommandKinds().filter((kind) => commandKindOf(kind)?.group !== 'none'))(
    'MWP-EVT-001b: %s without groupId is refused, whoever sends it',
    (kind) => {
      const world = activeItem();
      for (const actor of [SERVICE, { type: 'human', id: 'urn:test:human:olga' } as const]) {
        expect(isRefusal(world.decide({ kind, actor, payload: {} }))).toBe(true);
      }
    },
  );
});
