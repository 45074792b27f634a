// An original that somebody kept, an Event or a Command, against the history that it was accepted into, where its body may be
// taken out: by its signing hash, which the row and the rendition still name, by its signature and by the chain.
import type { Command } from '../protocol/documents/command.ts';
import type { Event } from '../protocol/documents/event.ts';
import { renditionOf } from '../protocol/documents/rendition.ts';
import type { AdmissionRow, CommandRow, EventRow } from '../store/port.ts';
import type { RenditionRow, WithheldRow } from '../store/port/withheld.ts';
import { readDocument } from '../trust/verify.ts';
import { chainNext } from '../wire/chain.ts';
import { checkCommand, checkEvent } from './check-rows.ts';
import { judge, judgeEvent, lookupOf, type Accepting, type Judgement } from './check-signatures.ts';
import { Findings } from './findings.ts';
import { readCommand, signingHashOf } from './recorded.ts';

export type Original = { text: string; signingHash: string } & (
  { kind: 'event'; document: Event } | { kind: 'command'; document: Command }
);

/** Where it was accepted, as it stands there today. */
export interface Standing {
  /** The Event itself; of a Command the one of its receipt. */
  event: EventRow;
  /** Chain hash of the Event before. */
  chainBefore: string | undefined;
  /** On that Event. */
  marks: readonly WithheldRow[];
  renditions: readonly RenditionRow[];
  /** Of a Command. */
  command?: { row: CommandRow; admission: AdmissionRow | undefined };
}

/** A sentence where the bytes are neither. One line end may follow: editors leave it there. */
export function readOriginal(bytes: Uint8Array): Original | string {
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  const input = { bytes: bytes.subarray(0, Buffer.byteLength(text, 'utf8')) };
  const event = readDocument('event', input);
  if (event.ok) {
    const { document } = event;
    if (isRendition(document)) return 'holds a rendition, and not the original that it stands for';
    return withHash(document, (signingHash) => ({ kind: 'event', text, document, signingHash }));
  }
  const command = readDocument('command', input);
  if (!command.ok) return 'holds neither a signed Event nor a signed Command';
  const { document } = command;
  return withHash(document, (signingHash) => ({ kind: 'command', text, document, signingHash }));
}

/** What speaks against it in `faults`, what is proven in `told`, in words. */
export async function checkOriginal(
  original: Original,
  standing: Standing | undefined,
  accepting: Accepting,
): Promise<{ faults: string[]; told: string[] }> {
  const findings = new Findings();
  if (!standing) {
    findings.fault(`no ${original.kind === 'event' ? 'Event' : 'Command'} of this id or hash was accepted here`);
    return { faults: findings.sentences(), told: [] };
  }
  const accepted = original.kind === 'event' ? standing.event.signingHash : standing.command?.row.signingHash;
  if (accepted !== original.signingHash) {
    findings.fault(
      `its signing hash is ${original.signingHash}, and that of what was accepted is ${accepted ?? 'none'}`,
    );
    return { faults: findings.sentences(), told: [] };
  }
  const judged = await (original.kind === 'event'
    ? checkAsEvent(original, standing, accepting, findings)
    : checkAsCommand(original, standing, accepting, findings));
  if (chainNext(standing.chainBefore ?? '', standing.event.signingHash) !== standing.event.chainHash)
    findings.fault(`the chain at sequence ${standing.event.position} does not follow from it`);
  const faults = findings.sentences();
  return { faults, told: faults.length > 0 ? [] : [...sentences(original, standing, judged), ...findings.notes] };
}

async function checkAsEvent(
  { text, signingHash }: Original,
  { event, renditions }: Standing,
  accepting: Accepting,
  findings: Findings,
): Promise<Judgement> {
  const row = { ...event, body: text };
  const judged = await judgeEvent(row, accepting);
  checkEvent(row, event.revision, judged, findings);
  for (const rendition of renditions) {
    if (standsForHash(rendition) !== signingHash)
      findings.fault(
        `the rendition of cause ${rendition.cause} at sequence ${event.position} stands for another original`,
      );
  }
  return judged;
}

async function checkAsCommand(
  { text, signingHash }: Original,
  { event, command }: Standing,
  accepting: Accepting,
  findings: Findings,
): Promise<Judgement> {
  const recorded = readCommand({ ...(command as { row: CommandRow }).row, body: text });
  const judged = await judge('command', recorded.read, () => lookupOf(command?.admission, accepting), accepting);
  checkCommand(recorded, judged, findings);
  if (event.commandHash !== signingHash)
    findings.fault(`the Event at sequence ${event.position} is of another Command`);
  return judged;
}

function sentences(original: Original, { event, marks, renditions, command }: Standing, judged: Judgement): string[] {
  const { signingHash } = original;
  const what =
    original.kind === 'event'
      ? `Event ${original.document.eventId}, ${original.document.kind}`
      : `Command ${original.document.actionId}, ${original.document.kind}`;
  const place = `sequence ${event.position} of ${event.streamId}, at revision ${event.revision}`;
  const isThere = (command?.row ?? event).body !== '';
  return [
    `${what}: the original ${original.kind === 'event' ? `of ${place}` : `that led to ${place}`}`,
    `signing hash ${signingHash}, as it was accepted`,
    ...(judged.ok
      ? [`signed by ${judged.verified.principal.id} with key ${judged.verified.keyId}; its admission stands`]
      : []),
    `the chain hash there, ${event.chainHash}, follows from the Event's signing hash and the Event before`,
    ...renditions.map(({ cause, position }) =>
      original.kind === 'event'
        ? `the rendition of cause ${cause} at sequence ${position} names this hash`
        : `a rendition of cause ${cause} stands in the place of its Event`,
    ),
    ...marks.map(({ cause, reasonCode, orderedBy }) => `withheld: ${cause}, ${reasonCode}, ordered by ${orderedBy}`),
    isThere ? 'its body is still kept here' : 'its body is not kept here any more',
  ];
}

function standsForHash({ body }: RenditionRow): string | undefined {
  try {
    return renditionOf(JSON.parse(body) as Event)?.signingHash;
  } catch {
    return undefined;
  }
}

function isRendition(document: Event): boolean {
  try {
    return renditionOf(document) !== undefined;
  } catch {
    return true;
  }
}

function withHash(document: object, made: (signingHash: string) => Original): Original | string {
  const signingHash = signingHashOf(document);
  return signingHash === undefined ? 'cannot be hashed' : made(signingHash);
}
