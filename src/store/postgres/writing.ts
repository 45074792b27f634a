// One accepted transition as the one call that writes it, on the hosted store. Sibling of sqlite/writing.ts.
import {
  admissionToRecord,
  commandToRecord,
  documentToRecord,
  policyLogToRecord,
  receiptToRecord,
} from '../evidence-records.ts';
import type { Transition } from '../port.ts';
import { advanceToRecord, aggregateToRecord, eventToRecord, textToRecord } from '../stream-records.ts';
import type { Statement } from './session.ts';

export const WRITE = 'SELECT mwp.write_transition($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)';
export const WRITE_PARAMETERS = 11;

export function writeStatement(organizationId: string, transition: Transition): Statement {
  const aggregates = transition.aggregates.map(aggregateToRecord);
  return {
    text: WRITE,
    parameters: [
      organizationId,
      transition.streams.map(advanceToRecord),
      transition.events.map(eventToRecord),
      orNull(aggregates.filter(({ version }) => version > 0)),
      orNull(aggregates.filter(({ version }) => version === 0)),
      orNull(transition.texts.map(textToRecord)),
      commandToRecord(transition.command),
      orNull(transition.documents.map(documentToRecord)),
      orNull(transition.admissions.map(admissionToRecord)),
      receiptToRecord(transition.receipt),
      orNull(transition.policyLog.map(policyLogToRecord)),
    ],
  };
}

/** Most transitions leave most tables alone. */
function orNull(records: object[]): object[] | null {
  return records.length === 0 ? null : records;
}
