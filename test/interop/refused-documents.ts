// Documents inside Commands that must be refused, and Events that the official codec must refuse once we touched them.
import type { Actor } from './actor.ts';
import { newId, now } from './drafts.ts';
import type { Group } from './group.ts';
import { officialVerdict, type JsonObject } from './sdk.ts';
import { codeOf } from './traffic.ts';

const SIGNATURE = 'AUTH_INVALID_SIGNATURE';
const PROTOCOL = 'PROTOCOL_VIOLATION';
const SCHEMA = 'SCHEMA_VALIDATION_FAILED';

/** A genuine Command around a document that is not. */
export async function checkEmbedded(group: Group): Promise<void> {
  const { stage, cast } = group;
  const { sdk, checks, registry } = stage;
  const { cora, ada, ben } = cast;
  for (const [claim, code, contextPackage] of wrongContextPackages(group, cora, ada)) {
    const member = { principal: ben.principal, roles: ['worker'], visibilityAfterSequence: 0, contextPackage };
    const command = group.build(cora, 'membership.change', member);
    const service = codeOf(await group.send(cora, Buffer.from(sdk.canonicalizeJson(command), 'utf8')));
    const bytes = Buffer.from(sdk.canonicalizeJson(contextPackage), 'utf8');
    const official = officialVerdict(sdk, 'context-package', bytes, registry);
    checks.equal(
      `a Context Package ${claim}: ${code} by both`,
      { service, official },
      { service: code, official: code },
    );
  }
}

function wrongContextPackages(group: Group, author: Actor, other: Actor): [string, string, JsonObject][] {
  const unsigned = {
    contextPackageId: newId(),
    version: 1,
    missionId: group.missionId,
    groupId: group.groupId,
    sourceEventRange: { fromSequence: 1, toSequence: 1, eventIds: eventsOf(group).map(({ eventId }) => eventId) },
    artifactHashes: [],
    summary: 'Nothing yet',
    decisions: [],
    constraints: [],
    unresolvedQuestions: [],
    generatedBy: author.principal,
    generatedAt: now(),
  };
  const genuine = author.sign('context-package', unsigned);
  return [
    ['altered after signing', SIGNATURE, { ...genuine, summary: 'Everything' }],
    ['signed by somebody else', SIGNATURE, other.sign('context-package', unsigned)],
    ['outside its schema', SCHEMA, { ...genuine, version: 0 }],
  ];
}

export function checkTamperedEvents(group: Group): void {
  const { sdk, checks, registry } = group.stage;
  const [first, second] = eventsOf(group);
  if (first === undefined || second === undefined) throw new Error('there are Events to tamper with');
  const text = sdk.canonicalizeJson(first);
  const signature = first['signature'] as { keyId: string; value: string };
  const otherKey = registry.bindings.find(
    ({ keyId, principal }) => principal.type === 'service' && keyId !== signature.keyId,
  );
  const cases: [string, string, JsonObject | string][] = [
    ['untouched', 'accepted', first],
    ['with another payload', SIGNATURE, { ...first, payload: { ...(first['payload'] as JsonObject), added: true } }],
    ['with another sequence', SIGNATURE, { ...first, sequence: 99 }],
    ['of another time', SIGNATURE, { ...first, occurredAt: now() }],
    ['with the signature of the next', SIGNATURE, { ...first, signature: second['signature'] }],
    ['under the key of another service', SIGNATURE, { ...first, signature: { ...signature, keyId: otherKey?.keyId } }],
    ['with a member twice', PROTOCOL, text.replace('"kind":', '"kind":"mission.approved","kind":')],
    ['without its sequence', SCHEMA, text.replace(/"sequence":\d+,/, '')],
  ];
  for (const [claim, code, event] of cases) {
    const bytes = Buffer.from(typeof event === 'string' ? event : sdk.canonicalizeJson(event), 'utf8');
    checks.equal(
      `an Event ${claim}: ${code} by the official codec`,
      officialVerdict(sdk, 'event', bytes, registry),
      code,
    );
  }
}

function eventsOf({ accepted }: Group): readonly JsonObject[] {
  return accepted.flatMap(({ answer }) => answer.body['events'] as readonly JsonObject[]);
}
