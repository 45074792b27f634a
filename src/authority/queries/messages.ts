// Messages as their readers get them. Of a redacted one, and of what corrected or retracted it, only auditors get the words;
// that it was redacted, by whom, when and why, everybody is told (MWP-MSN-023).
import type { MessageAggregate } from '../../domain/aggregates.ts';
import { isAuditor } from '../../domain/policy.ts';
import { one } from '../../domain/reads.ts';
import type { Principal } from '../../protocol/principals.ts';
import type { Reader } from '../../store/port.ts';
import { isCommitment, spellCommitments } from '../../wire/commitments.ts';
import { withTexts } from './texts.ts';

type Redaction = NonNullable<MessageAggregate['redaction']>;

/** `{ message }`, with `details` where it is redacted. A commitment stands for each text that the reader does not get. */
export async function shownMessages(
  reader: Reader,
  { groupId, principal }: { groupId: string; principal: Principal },
  messages: readonly MessageAggregate[],
): Promise<unknown[]> {
  const redactions = await redactionsOf(reader, messages);
  const original = redactions.size > 0 && isAuditor(await reader.policy(), principal);
  const items = messages.map(({ redaction: _, ...message }) => ({ message }));
  const shown = (await withTexts(reader, groupId, items, original ? 'all' : 'shown')) as typeof items;
  if (redactions.size === 0) return shown;
  const reasons = await reasonsOf(reader, groupId, [...redactions.values()]);
  return shown.map((item, at) => {
    const redaction = redactions.get(subjectOf(messages[at] as MessageAggregate));
    if (!redaction) return item;
    const reason = reasons.get(redaction.amendmentId);
    // A Message of the protocol has texts where these stand.
    const message = spellCommitments(item.message, ['content.*.text', 'reason']);
    return { message, details: { redacted: true, ...redaction, ...(reason !== undefined && { reason }) } };
  });
}

/** The Message whose redaction withholds this one: itself, or what it corrects or retracts. */
function subjectOf({ kind, messageId, targetMessageId = messageId }: MessageAggregate): string {
  return kind === 'correction' || kind === 'retraction' ? targetMessageId : messageId;
}

async function redactionsOf(reader: Reader, messages: readonly MessageAggregate[]): Promise<Map<string, Redaction>> {
  const known = new Map(messages.map((message) => [message.messageId, message]));
  const elsewhere = [...new Set(messages.map(subjectOf))].filter((id) => !known.has(id));
  const subjects = [...known.values(), ...(await messagesById(reader, elsewhere))];
  return new Map(subjects.flatMap(({ messageId, redaction }) => (redaction ? [[messageId, redaction]] : [])));
}

/** By amendment; an erased one is missing. */
async function reasonsOf(
  reader: Reader,
  groupId: string,
  redactions: readonly Redaction[],
): Promise<Map<string, string>> {
  const amendments = await messagesById(
    reader,
    redactions.map(({ amendmentId }) => amendmentId),
  );
  const told = (await withTexts(
    reader,
    groupId,
    amendments.map(({ messageId, reason }) => ({ messageId, reason })),
  )) as { messageId: string; reason: unknown }[];
  return new Map(
    told.flatMap(({ messageId, reason }) => (isCommitment(reason) ? [] : [[messageId, reason as string]])),
  );
}

async function messagesById(reader: Reader, ids: readonly string[]): Promise<MessageAggregate[]> {
  if (ids.length === 0) return [];
  const { aggregates } = await reader.load([...new Set(ids)].map((id) => one('message', id)));
  return aggregates.map(({ document }) => document as MessageAggregate);
}
