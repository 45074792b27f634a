// A Group that works on while keys are replaced: an Agent's, by a new version of its Card, and the authority's and the
// other services'. Plays it in time; what each key then proves is checked in rotated-keys.ts.
import { setTimeout as delay } from 'node:timers/promises';
import type { KeyPair } from './actor.ts';
import { cardOf, inSeconds, newId } from './drafts.ts';
import type { Group } from './group.ts';
import { declare } from './missions.ts';
import { checkCardSigner, checkCommandKeys, checkEventKeys, checkOldActorKey } from './rotated-keys.ts';
import type { JsonObject, KeyBinding } from './sdk.ts';
import { logIn, OPERATOR, SLUG, type Stage } from './stage.ts';

/** Before the moment of a rotation, when the services choose the old keys once more: shorter than such a choice ever stood. */
const SHORTLY_MILLISECONDS = 1_000;
/** In which both keys of an Agent count: several Commands on a slow machine. */
const OVERLAP_SECONDS = 3;

export interface Replaced {
  readonly before: string;
  readonly after: string;
  /** From when on the new one counts; of a service also when the old one ends. */
  readonly moment: string;
}

export async function checkRotation(group: Group): Promise<void> {
  const { stage, cast } = group;
  const { cora, ada } = cast;
  await declare(group);
  const asWorker = { principal: ada.principal, roles: ['worker'], visibilityAfterSequence: 0 };
  await group.does(cora, 'membership.change', asWorker);
  await say(group, 'ada');

  const authority = await rotateService(stage, 'authority');
  const registrar = await rotateService(stage, 'registrar');
  const identity = await rotateService(stage, 'identity');
  await say(group, 'cora');
  const old = ada.pair;
  const { pair, validUntil, card } = await rotateAgent(group);
  await say(group, 'ada');
  ada.pair = pair;
  await logIn(stage, ada);
  await say(group, 'ada');
  await reached(validUntil);
  await say(group, 'ada');
  await checkOldActorKey(group, old, validUntil);
  checkCommandKeys(group, { before: old.key.keyId, after: pair.key.keyId });

  const cardAgain = (cardVersion: number) => registerCard(stage, { ...unsignedAgain(card), cardVersion });
  await reached(new Date(Date.parse(authority.moment) - SHORTLY_MILLISECONDS).toISOString());
  await logIn(stage, ada);
  const last = await cardAgain(3);
  await reached(identity.moment);
  await logIn(stage, ada);
  await say(group, 'cora');
  await say(group, 'ada');
  checkEventKeys(group, authority);
  for (const before of [card, last]) checkCardSigner(stage, before, registrar.before);
  checkCardSigner(stage, await cardAgain(4), registrar.after);
}

async function say(group: Group, name: 'ada' | 'cora'): Promise<void> {
  const content = [{ type: 'text', text: 'Still here — 还在' }];
  const { conversationId } = group;
  await group.does(group.cast[name], 'message.post', { messageId: newId(), conversationId, content });
}

async function rotateService({ traffic, operatorToken, keys }: Stage, service: string): Promise<Replaced> {
  const path = `${OPERATOR}/organizations/${SLUG}/services/${service}/rotate-key`;
  const answer = await traffic.must({ method: 'POST', path, token: operatorToken });
  const { keyId, principal, publicKey, validFrom, ended } = answer as unknown as KeyBinding & { ended: string[] };
  keys.add({ keyId, principal, algorithm: 'Ed25519', publicKey, validFrom, validityHistory: [] });
  for (const endedId of ended) keys.end(endedId, { validUntil: validFrom });
  const [before] = ended;
  if (before === undefined || ended.length > 1) throw new Error(`one key of the ${service} ends, not ${ended.length}`);
  return { before, after: keyId, moment: validFrom };
}

/** The second version of the Card names both keys, and when the old one ends. */
async function rotateAgent({ stage, cast }: Group): Promise<{ pair: KeyPair; validUntil: string; card: JsonObject }> {
  const { ada, olga } = cast;
  const pair = ada.newPair();
  const [validFrom, validUntil] = [inSeconds(-1), inSeconds(OVERLAP_SECONDS)];
  const known = stage.registry.bindings.find(({ keyId }) => keyId === ada.key.keyId);
  const asDeclared = ({ key, publicKey }: KeyPair, more: JsonObject) => {
    const { keyId, algorithm } = key;
    return { keyId, algorithm, publicKey, ...more };
  };
  const publicKeys = [
    asDeclared(ada.pair, { validFrom: known?.validFrom, validUntil }),
    asDeclared(pair, { validFrom }),
  ];
  const card = await registerCard(stage, { ...cardOf(ada, olga, validFrom), cardVersion: 2, publicKeys });
  stage.keys.add(ada.binding(validFrom, pair));
  stage.keys.end(ada.key.keyId, { validUntil });
  return { pair, validUntil, card };
}

async function registerCard({ traffic, operatorToken }: Stage, card: JsonObject): Promise<JsonObject> {
  const path = `${OPERATOR}/organizations/${SLUG}/agents`;
  const { agentCard } = await traffic.must({ path, token: operatorToken, body: { card } });
  return agentCard as JsonObject;
}

function unsignedAgain({ signature: _signature, issuedAt: _issuedAt, ...card }: JsonObject): JsonObject {
  return card;
}

/** Nobody can bring the clock of the service forward from outside, so this part waits for its moments. */
async function reached(moment: string): Promise<void> {
  for (let left = 1; left > 0; left = Date.parse(moment) + 1 - Date.now()) await delay(left);
}
