// The one seam between a stored Event and whoever it is delivered to: what is marked goes out as its rendition, to auditors
// only where it is erased. No other module reads the body of a stored Event for a client; `DeliveredBody` is what all of them hand out.
import { isAuditor } from '../domain/policy.ts';
import { WITHHOLDING_CAUSES } from '../protocol/documents/rendition.ts';
import type { Principal } from '../protocol/principals.ts';
import type { EventRow, OrganizationRow, Reader } from '../store/port.ts';
import type { WithheldEvent } from '../store/port/withheld.ts';

declare const delivered: unique symbol;
/** Canonical JSON text of an Event or of the rendition in its place, as somebody may have it now. */
export type DeliveredBody = string & { readonly [delivered]: true };

export interface Viewer {
  organization: OrganizationRow;
  principal: Principal;
}

/**
 * Marked Events whose renditions are not made yet: no original leaves because of that. Whoever opened the snapshot makes
 * them and reads again (renditions.ts).
 */
export class RenditionsMissing extends Error {
  readonly organization: OrganizationRow;
  readonly marks: readonly WithheldEvent[];
  constructor(organization: OrganizationRow, marks: readonly WithheldEvent[]) {
    super(`renditions of ${marks.length} Events are not made yet`);
    this.name = 'RenditionsMissing';
    this.organization = organization;
    this.marks = marks;
  }
}

/** In the order of the rows, each of which this viewer may see. Throws RenditionsMissing. */
export async function deliverable(
  reader: Pick<Reader, 'withheldEvents' | 'policy'>,
  rows: readonly EventRow[],
  { organization, principal }: Viewer,
): Promise<DeliveredBody[]> {
  const marks = await marksOn(reader, rows);
  // Asked only where it matters: a page without a mark costs one look.
  const audits = marks.size > 0 && isAuditor(await reader.policy(), principal);
  const bodyOf = (row: EventRow) => {
    const mark = marks.get(row.eventId);
    if (audits && mark?.cause !== 'erased') return row.body as DeliveredBody;
    return (mark ? mark.rendition : row.body) as DeliveredBody | undefined;
  };
  const bodies = rows.map(bodyOf);
  const missing = rows.flatMap((row, at) => (bodies[at] === undefined ? (marks.get(row.eventId) ?? []) : []));
  if (missing.length > 0) throw new RenditionsMissing(organization, missing);
  return bodies as DeliveredBody[];
}

/** What was accepted just now, and nobody could mark yet. */
export function freshlyAccepted(body: string): DeliveredBody {
  return body as DeliveredBody;
}

/** By Event; of several marks the strongest. One look at each Group's range: rows of one answer lie close together. */
async function marksOn(
  reader: Pick<Reader, 'withheldEvents'>,
  rows: readonly EventRow[],
): Promise<Map<string, WithheldEvent>> {
  const ranges = new Map<string, { from: number; through: number }>();
  for (const { groupId, position } of rows) {
    if (groupId === '') continue;
    const { from, through } = ranges.get(groupId) ?? { from: position, through: position };
    ranges.set(groupId, { from: Math.min(from, position), through: Math.max(through, position) });
  }
  const marks = new Map<string, WithheldEvent>();
  for (const [groupId, { from, through }] of ranges) {
    for (const mark of await reader.withheldEvents(groupId, from, through)) {
      const known = marks.get(mark.eventId);
      if (!known || strength(mark) > strength(known)) marks.set(mark.eventId, mark);
    }
  }
  return marks;
}

function strength({ cause }: WithheldEvent): number {
  return WITHHOLDING_CAUSES.indexOf(cause);
}
