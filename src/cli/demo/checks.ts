// What the demo claims about the service, claim by claim, each with what was expected and what was found.

import { isDeepStrictEqual } from 'node:util';

export interface Check {
  readonly claim: string;
  readonly passed: boolean;
  readonly expected: string;
  readonly found: string;
}

/** A claim that the rest of the story stands on did not hold, so the story ends here. */
export class StoryStopped extends Error {
  constructor(claim: string) {
    super(`the story cannot go on: ${claim}`);
    this.name = 'StoryStopped';
  }
}

export class Checks {
  readonly all: Check[] = [];
  private readonly onCheck: (check: Check) => void;

  constructor(onCheck: (check: Check) => void = () => undefined) {
    this.onCheck = onCheck;
  }

  /** Deep equality. */
  equal(claim: string, found: unknown, expected: unknown): boolean {
    return this.record({
      claim,
      passed: isDeepStrictEqual(found, expected),
      expected: inWords(expected),
      found: inWords(found),
    });
  }

  holds(claim: string, passed: boolean, found: unknown): boolean {
    return this.record({ claim, passed, expected: 'true', found: inWords(found) });
  }

  /** As `equal`, for what the story stands on. */
  mustEqual(claim: string, found: unknown, expected: unknown): void {
    if (!this.equal(claim, found, expected)) throw new StoryStopped(claim);
  }

  get failed(): readonly Check[] {
    return this.all.filter((check) => !check.passed);
  }

  get passed(): readonly Check[] {
    return this.all.filter((check) => check.passed);
  }

  private record(check: Check): boolean {
    this.all.push(check);
    this.onCheck(check);
    return check.passed;
  }
}

const LONGEST_WORDS = 400;

function inWords(value: unknown): string {
  const plain = value instanceof Map || value instanceof Set ? [...(value as Iterable<unknown>)] : value;
  const words = typeof plain === 'string' ? plain : (JSON.stringify(plain) ?? String(plain));
  return words.length <= LONGEST_WORDS ? words : `${words.slice(0, LONGEST_WORDS - 1)}…`;
}
