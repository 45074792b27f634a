// What the clients know: every Command that was ever signed, whether it was sent, and what was answered, byte for byte. It
// is the witness against which the database is examined.
import { createHash } from 'node:crypto';
import type { SignedCommand } from '../../src/worker/commands.ts';
import type { Actor } from './actor.ts';

export type Fate =
  /** No answer yet, or one that said nothing: lost, or a retryable error. */
  | { fate: 'unanswered' }
  | { fate: 'accepted'; receipt: string; duplicate: boolean }
  /** Refused, for good. */
  | { fate: 'refused'; code: string };

export interface Entry {
  actor: Actor;
  command: SignedCommand;
  /** Times that it went out. */
  sends: number;
  /** Of these, without an answer that says what became of it. */
  lost: number;
  /** Of those, answered with a retryable error. */
  putOff: number;
  fate: Fate;
}

/** What is kept of an entry for ever: enough to find its receipt and to know its bytes again. */
export interface Remembered {
  slug: string;
  actorType: string;
  actorId: string;
  actionId: string;
  receiptHash: string;
}

export class Ledger {
  readonly remembered: Remembered[] = [];
  /** By kind of Command. */
  readonly accepted = new Map<string, number>();
  /** By kind and code. */
  readonly refused = new Map<string, number>();
  signed = 0;
  private fresh = new Set<Entry>();

  sign(actor: Actor, command: SignedCommand): Entry {
    const entry: Entry = { actor, command, sends: 0, lost: 0, putOff: 0, fate: { fate: 'unanswered' } };
    this.signed += 1;
    this.fresh.add(entry);
    return entry;
  }

  settle(entry: Entry, fate: Exclude<Fate, { fate: 'unanswered' }>): void {
    entry.fate = fate;
    const { kind, actionId } = entry.command;
    if (fate.fate === 'refused') return add(this.refused, `${kind} ${fate.code}`);
    add(this.accepted, kind);
    const { slug, key } = entry.actor;
    const { type, id } = key.principal;
    const receiptHash = digest(fate.receipt);
    this.remembered.push({ slug, actorType: type, actorId: id, actionId, receiptHash });
  }

  /** All since the last look. */
  all(): Entry[] {
    return [...this.fresh];
  }

  /** After a look that found all in order: their bytes are not needed any more. */
  forgetSettled(): void {
    for (const entry of this.fresh) if (entry.fate.fate !== 'unanswered') this.fresh.delete(entry);
  }
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
