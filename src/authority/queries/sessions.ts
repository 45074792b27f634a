// The current Session Epoch of an Agent.
import type { SessionAggregate } from '../../domain/aggregates.ts';
import { one } from '../../domain/reads.ts';
import type { Reader } from '../../store/port.ts';

/** 0 before the first session. */
export async function sessionEpochOf(reader: Reader, agentId: string): Promise<number> {
  const { aggregates } = await reader.load([one('session', agentId)]);
  return (aggregates[0]?.document as SessionAggregate | undefined)?.sessionEpoch ?? 0;
}
