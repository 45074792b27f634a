// Everything the actors sent and what came back, kept to the end: the audit compares it with the Group's history.

import type { ErrorCode } from '../../protocol/refusals.ts';
import type { Accepted } from '../../worker/answers.ts';
import type { SignedCommand } from '../../worker/commands.ts';
import type { Outcome } from '../../worker/outcome.ts';

export interface Entry {
  readonly command: SignedCommand;
  readonly outcome: Outcome<Accepted>;
}

export class Journal {
  readonly entries: Entry[] = [];

  record(command: SignedCommand, outcome: Outcome<Accepted>): void {
    this.entries.push({ command, outcome });
  }

  /** First acceptances only; a duplicate answers what an entry before it did already. */
  accepted(): { command: SignedCommand; answer: Accepted }[] {
    return this.entries.flatMap(({ command, outcome }) =>
      outcome.ok && !outcome.value.duplicate ? [{ command, answer: outcome.value }] : [],
    );
  }

  duplicates(): number {
    return this.entries.filter(({ outcome }) => outcome.ok && outcome.value.duplicate).length;
  }

  /** How often each code was answered, most frequent first. */
  refusals(): [ErrorCode, number][] {
    const counts = new Map<ErrorCode, number>();
    for (const { outcome } of this.entries) {
      if (outcome.ok || outcome.problem.kind !== 'refused') continue;
      counts.set(outcome.problem.code, (counts.get(outcome.problem.code) ?? 0) + 1);
    }
    return [...counts].sort(([codeA, a], [codeB, b]) => b - a || codeA.localeCompare(codeB));
  }
}
