// Runs the code that an agent delivered against the cases that another one delivered, so that the demo's test Evidence
// says something that happened. The code is the plot's own; nothing from outside is ever run here.

import { isDeepStrictEqual } from 'node:util';
import type { Case } from './plot.ts';

export interface CaseResults {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
}

export async function runCases(moduleText: string, cases: readonly Case[]): Promise<CaseResults> {
  const url = `data:text/javascript;base64,${Buffer.from(moduleText, 'utf8').toString('base64')}`;
  const { default: subject } = (await import(url)) as { default: (input: unknown) => unknown };
  const passes = ({ input, output }: Case) => isDeepStrictEqual(subject(input), output);
  return {
    passed: cases.filter(passes).map(({ name }) => name),
    failed: cases.filter((one) => !passes(one)).map(({ name }) => name),
  };
}
