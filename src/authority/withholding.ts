// Marks for what a decision withholds: on every Event that the Message's text stands in, found under the Group's lock, so that
// none can be added unseen.
import type { Accepted } from '../domain/decider.ts';
import { commitmentsIn } from '../wire/commitments.ts';
import type { Acceptance } from '../store/port.ts';
import type { WithheldRow } from '../store/port/withheld.ts';
import type { Appended, AppendContext } from './append.ts';

export async function marksFor(
  { withholds }: Accepted,
  appended: Appended,
  { now }: AppendContext,
  acceptance: Pick<Acceptance, 'eventsOfMessage'>,
): Promise<WithheldRow[]> {
  if (!withholds) return [];
  const { cause, reasonCode, message, redaction, draft } = withholds;
  const ordering = appended.events[draft];
  if (!ordering) throw new Error('what withholds a Message is an Event of its transition');
  const { groupId, messageId, author, content } = message;
  // Who redacts a Message need not be its author, by whom the store finds the other amendments.
  const commitments = commitmentsIn([content, redaction?.content ?? []]);
  const events = await acceptance.eventsOfMessage({ groupId, messageId, author, commitments });
  return events.map(({ eventId, position }) => ({
    groupId,
    position,
    eventId,
    cause,
    reasonCode,
    orderedBy: ordering.eventId,
    recordedAt: now,
  }));
}
