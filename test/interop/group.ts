// One Mission and its Group as this run plays it: every Command is built here, signed by the official codec, sent as
// bytes, and kept for the checks that follow.
import type { Actor } from './actor.ts';
import { Stopped } from './checks.ts';
import { newId, now } from './drafts.ts';
import type { JsonObject, OfficialSdk } from './sdk.ts';
import { BASE, type Cast, type Stage } from './stage.ts';
import { codeOf, type Answer } from './traffic.ts';

export interface SentCommand {
  readonly actor: Actor;
  readonly kind: string;
  readonly document: JsonObject;
  readonly bytes: Uint8Array;
  /** As the official codec computes it. */
  readonly signingHash: string;
  readonly answer: Answer;
}

export class Group {
  readonly missionId = newId();
  readonly groupId = newId();
  /** Accepted ones, in order. */
  readonly accepted: SentCommand[] = [];
  /** The main Conversation; known once the Mission is created. */
  conversationId = '';
  readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  get cast(): Cast {
    return this.stage.cast;
  }

  /** `members` go into the envelope and win over what is filled in. */
  build(actor: Actor, kind: string, payload: JsonObject, members: JsonObject = {}): JsonObject {
    const { groupId } = this;
    const actionId = newId();
    const coordinates = actor === this.cast.cora && actor.membershipEpochs.has(groupId);
    return actor.sign('command', {
      protocolVersion: '0.1',
      actionId,
      actor: actor.principal,
      ...actor.epochsIn(groupId),
      ...(coordinates && { coordinatorEpoch: 1 }),
      groupId,
      kind,
      correlationId: actionId,
      issuedAt: now(),
      payload,
      ...members,
    });
  }

  send(actor: Actor, bytes: Uint8Array): Promise<Answer> {
    return this.stage.traffic.send({ path: `${BASE}/commands`, token: actor.token, body: bytes });
  }

  /** Must be accepted; answers the Events. */
  async does(
    actor: Actor,
    kind: string,
    payload: JsonObject,
    members: JsonObject = {},
  ): Promise<readonly JsonObject[]> {
    const { sdk, checks, registry } = this.stage;
    const document = this.build(actor, kind, payload, members);
    const bytes = this.spelled(sdk, document);
    const { signingHash } = sdk.codec.verify('command', bytes, { resolve: () => registry });
    const answer = await this.send(actor, bytes);
    const claim = `${kind} by ${actor.name}, signed by the official codec, is accepted`;
    const code = codeOf(answer);
    if (!checks.equal(claim, code === 'accepted' ? code : answer.text, 'accepted')) throw new Stopped(claim);
    this.accepted.push({ actor, kind, document, bytes, signingHash, answer });
    const events = answer.body['events'] as readonly JsonObject[];
    for (const { payload: news } of events) this.learn(news as JsonObject);
    return events;
  }

  /** Canonical and indented by turns: what is signed is the document, not its spelling. */
  private spelled({ canonicalizeJson }: OfficialSdk, document: JsonObject): Uint8Array {
    const canonical = this.accepted.length % 2 === 0;
    return Buffer.from(canonical ? canonicalizeJson(document) : JSON.stringify(document, undefined, 2), 'utf8');
  }

  private learn({ memberships }: JsonObject): void {
    for (const { member, groupId, membershipEpoch } of (memberships ?? []) as readonly JsonObject[]) {
      const { id } = member as { id: string };
      const actor = (Object.values(this.cast) as Actor[]).find(({ principal }) => principal.id === id);
      actor?.membershipEpochs.set(String(groupId), Number(membershipEpoch));
    }
  }
}

/** The payload of the one Event of that kind. */
export function payloadOf(events: readonly JsonObject[], kind: string): JsonObject {
  const event = events.find((candidate) => candidate['kind'] === kind);
  if (event === undefined) throw new Stopped(`${kind} among the answered Events`);
  return event['payload'] as JsonObject;
}
