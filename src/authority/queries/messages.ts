// Messages as their readers get them. Of a redacted one, and of what corrected or retracted it, only auditors get the words, and
// of an erased one nobody; that it was, by whom, when and why, everybody is told (MWP-MSN-023, MWP-MSN-009c).
import type { MessageAggregate } from '../../domain/aggregates.ts';
import { isAuditor } from '../../domain/policy.ts';
import { one } from '../../domain/reads.ts';
import type { Principal } from '../../protocol/principals.ts';
import type { Reader } from '../../store/port.ts';
import { isCommitment, spellCommitments } from '../../wire/commitments.ts';
import { withTexts } from './texts.ts';

type Redaction = NonNullable<MessageAggregate['redaction']>;

/**
 * `{ message }`, with `details` where it is redacted or erased. A commitment stands for each text that the reader does not
 * get.
 */
export async function shownMessages(
  reader: Reader,
  { groupId, principal }: { groupId: string; principal: Principal },
  messages: readonly MessageAggregate[],
): Promise<unknown[]> {
  const subjects = await withheldSubjects(reader, messages);
  const original = subjects.size > 0 && isAuditor(await reader.policy(), principal);
  const items = messages.map(({ redaction: _, erasure: _erasure, ...message }) => ({ message }));
  const shown = (await withTexts(reader, groupId, items, original ? 'all' : 'shown')) as typeof items;
  if (subjects.size === 0) return shown;
  const redactions = [...subjects.values()].flatMap(({ redaction }) => redaction ?? []);
  const reasons = await reasonsOf(reader, groupId, redactions);
  return shown.map((item, at) => {
    const details = detailsOf(messages[at] as MessageAggregate, subjects, reasons);
    if (!details) return item;
    // A Message of the protocol has texts where these stand.
    return { message: spellCommitments(item.message, ['content.*.text', 'reason']), details };
  });
}

/** An erased one is told as erased alone, though it was redacted before. */
function detailsOf(
  message: MessageAggregate,
  subjects: ReadonlyMap<string, MessageAggregate>,
  reasons: ReadonlyMap<string, string>,
): object | undefined {
  const { redaction, erasure } = subjects.get(subjectOf(message)) ?? {};
  if (erasure) return { erased: true, ...erasure };
  // The redaction itself is shown as it was said.
  if (!redaction || message.kind === 'redaction') return undefined;
  const reason = reasons.get(redaction.amendmentId);
  return { redacted: true, ...redaction, ...(reason !== undefined && { reason }) };
}

/** The Message that this one is withheld with: itself, or the one that it amends. */
function subjectOf({ messageId, targetMessageId = messageId }: MessageAggregate): string {
  return targetMessageId;
}

async function withheldSubjects(
  reader: Reader,
  messages: readonly MessageAggregate[],
): Promise<Map<string, MessageAggregate>> {
  const known = new Map(messages.map((message) => [message.messageId, message]));
  const elsewhere = [...new Set(messages.map(subjectOf))].filter((id) => !known.has(id));
  const subjects = [...known.values(), ...(await messagesById(reader, elsewhere))];
  const withheld = subjects.filter(({ redaction, erasure }) => redaction ?? erasure);
  return new Map(withheld.map((subject) => [subject.messageId, subject]));
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
