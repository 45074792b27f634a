// What is known of a Command on its way, in the words of those who watch: alarms and observers. Ids and codes, no content.
import type { Command } from '../domain/decider.ts';
import type { OrganizationRow } from '../store/port.ts';
import type { Conclusion } from './observer.ts';
import type { Caller, Submission } from './ports.ts';

export type Alarm = (message: string, error: unknown, about: AboutCommand) => void;

/** Which Command it is about, as far as that is known. */
export interface AboutCommand {
  tenant: string;
  requestId?: string;
  groupId?: string;
  actionId?: string;
}

/** What is known of a Command on its way, for those who watch. */
export interface Seen {
  organization: OrganizationRow;
  caller: Caller;
  command?: Partial<Command>;
}

export function outcomeOf(submission: Submission): Conclusion['outcome'] {
  if (!submission.accepted) return submission.refusal.code;
  return submission.duplicate ? 'duplicate' : 'accepted';
}

export function namesOf({ caller: { requestId }, command: { kind, groupId, actionId } = {} }: Seen) {
  return {
    ...(requestId !== undefined && { requestId }),
    ...(kind !== undefined && { kind }),
    ...(groupId !== undefined && { groupId }),
    ...(actionId !== undefined && { actionId }),
  };
}

export function aboutCommand(seen: Seen): AboutCommand {
  const { kind: _said, ...names } = namesOf(seen);
  return { tenant: seen.organization.organizationId, ...names };
}
