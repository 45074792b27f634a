// Who only talks: into the hot Group, into a quiet one, twice the same, or where they may not.
import type { Actor } from '../actor.ts';
import type { Chance } from '../random.ts';
import type { Stage } from '../stage.ts';
import type { Team } from '../world.ts';
import { missionCreation } from '../world.ts';
import { id } from './work.ts';

const TEXT = 'All work is work of the Group. '.repeat(20);

export async function say(speaker: Actor, groupId: string, conversationId: string): Promise<void> {
  await speaker.submit({ kind: 'message.post', groupId, payload: message(conversationId) });
}

/** What was said and corrected is withheld again. */
export async function redact({ owner, groupId, conversationId }: Team): Promise<void> {
  const payload = message(conversationId);
  const { messageId } = payload;
  if (!(await owner.submit({ kind: 'message.post', groupId, payload }))) return;
  const correction = { amendmentId: id(), messageId, reason: TEXT, replacementContent: TEXT };
  await owner.submit({ kind: 'message.correct', groupId, payload: correction });
  const redaction = { amendmentId: id(), messageId, reason: 'It was not for everybody' };
  await owner.submit({ kind: 'message.redact', groupId, payload: redaction });
}

/** With an epoch that never was: refused, and written into the audit record only. */
export async function trespass(speaker: Actor, groupId: string, conversationId: string): Promise<void> {
  const draft = { kind: 'message.post', groupId, payload: message(conversationId) } as const;
  if (await speaker.submit(draft, { membershipEpoch: 7 })) throw new Error('a stale epoch was accepted');
}

/** What was accepted is said again, and gets the same bytes. */
export async function repeat(stage: Stage, chance: Chance): Promise<void> {
  const accepted = stage.ledger.all().filter(({ fate }) => fate.fate === 'accepted');
  if (accepted.length === 0) return;
  const entry = chance.of(accepted);
  const { fate } = await stage.gate.through(() => entry.actor.send(entry));
  if (fate.fate === 'unanswered') return;
  const known = entry.fate.fate === 'accepted' ? entry.fate.receipt : '';
  const isSame = fate.fate === 'accepted' && fate.duplicate && fate.receipt === known;
  if (!isSame) throw new Error(`a repeated ${entry.command.kind} was answered otherwise: ${JSON.stringify(fate)}`);
}

/** New Groups come into being, and leases of Coordinators are renewed, while all the rest goes on. */
export async function rule({ owner, coordinator, groupId }: Team, chance: Chance): Promise<void> {
  if (chance.isLucky(0.5)) return void (await owner.submit(missionCreation(coordinator.id).draft));
  const payload = { leaseSeconds: 80_000 };
  await coordinator.submit({ kind: 'mission.renew_coordinator', groupId, payload }, { coordinatorEpoch: 1 });
}

function message(conversationId: string) {
  return spoken(conversationId, TEXT);
}

export function spoken(conversationId: string, text: string) {
  return { messageId: id(), conversationId, content: [{ type: 'text', text }] };
}
