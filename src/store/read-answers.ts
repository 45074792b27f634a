// What a database answered, read by read, so that several decisions can share one round of reading.
import { readKey, type LoadedAggregate, type LoadedReads, type Read, type RecentCount } from '../domain/reads.ts';

export type Answer = { aggregates: LoadedAggregate[] } | { recent: RecentCount };

/** By `readKey`. */
export type Answers = ReadonlyMap<string, Answer>;

/** In the order of the reads; throws when one of them was not asked. */
export function loadedReads(reads: readonly Read[], answerTo: (read: Read) => Answer | undefined): LoadedReads {
  const loaded: LoadedReads = { aggregates: [], recents: [] };
  for (const read of reads) {
    const answer = answerTo(read);
    if (!answer) throw new Error(`not read: ${readKey(read)}`);
    if ('recent' in answer) loaded.recents.push(answer.recent);
    else loaded.aggregates.push(...answer.aggregates);
  }
  return loaded;
}
