// The life of one Group, step by step, as the processes of `npm run measure` play it over one folder.

export interface StepFigures {
  seconds: number;
  /** Of the process, at its largest. */
  peakMegabytes: number;
  says: string;
}

export const STEPS = [
  'build',
  'start',
  'first snapshot',
  'next snapshot',
  'seal',
  'restore',
  'replay',
  'old page',
  'verify',
  'export',
  'verify bundle',
  'erase',
  'archive',
] as const;
export type Step = (typeof STEPS)[number];
