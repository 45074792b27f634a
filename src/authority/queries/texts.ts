// Documents as people read them: texts back in the places of their commitments. What was erased or is withheld stays a commitment.
import type { Reader } from '../../store/port.ts';
import { commitmentsIn, restoreTexts } from '../../wire/commitments.ts';

/** One question to the store for all of them. A text of another Group never comes back. */
export async function withTexts<Value>(
  reader: Reader,
  groupId: string,
  values: readonly Value[],
  which: 'shown' | 'all' = 'shown',
): Promise<unknown[]> {
  const commitments = [...new Set(commitmentsIn(values))];
  if (commitments.length === 0) return [...values];
  const texts = await reader.texts(groupId, commitments, which);
  return values.map((value) =>
    restoreTexts(value, (commitment) => {
      const text = texts.get(commitment);
      return text === undefined ? undefined : (JSON.parse(text) as unknown);
    }),
  );
}
