// In which stream an Event stands: a Group's own sequence, or the log of the one Organization aggregate that it changes
// (design section 5).
import type { EventDraft } from './decider.ts';

export function streamOf(event: Pick<EventDraft, 'kind' | 'groupId' | 'payload'>): string {
  if (event.groupId !== undefined) return event.groupId;
  const agentId = event.payload['agentId'];
  if (typeof agentId !== 'string') throw new Error(`${event.kind} names no Agent`);
  return organizationStream(event.kind, agentId);
}

export function organizationStream(eventKind: string, agentId: string): string {
  return `${eventKind.endsWith('.session_opened') ? 'session' : 'card'} ${agentId}`;
}
