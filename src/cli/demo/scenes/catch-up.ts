// An actor reads a Group's history so far, and learns from it what it is there.

import type { Event } from '../../../protocol/documents/event.ts';
import type { Actor } from '../actor.ts';
import { StoryStopped } from '../checks.ts';
import { answerOf, type Play } from '../play.ts';

/** Reads the Group's Events so far and learns the own epochs from them. */
export async function catchUp(play: Play, actor: Actor): Promise<readonly Event[]> {
  const events = await play.readAs(actor).events();
  if (!events.ok) throw new StoryStopped(`${actor.name} reads the Events (${answerOf(events)})`);
  actor.standing.learn(events.value);
  return events.value;
}
