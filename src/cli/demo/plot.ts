// The two missions as data: what is asked, what the agents will produce, and the code that they really run.

export type ItemName = 'requirements' | 'implementation' | 'tests' | 'review' | 'integration' | 'correction';

export interface PlotItem {
  readonly name: ItemName;
  readonly goal: string;
  /** Verified before this one may start. */
  readonly after: readonly ItemName[];
  readonly capability: string;
  readonly file: string;
  readonly mediaType: string;
  readonly criterion: { readonly criterionId: string; readonly description: string; readonly evidence: EvidenceType };
  readonly risk: 'none' | 'external';
}

export type EvidenceType = 'business_rule' | 'deterministic_test' | 'reviewer_assessment' | 'artifact_integrity';

export interface Plot {
  readonly title: string;
  readonly objective: string;
  readonly done: string;
  readonly requirements: string;
  /** A module with `export default (input) => output`. */
  readonly implementation: string;
  readonly cases: readonly Case[];
  readonly question: string;
  readonly answer: string;
}

export interface Case {
  readonly name: string;
  readonly input: unknown;
  readonly output: unknown;
}

const ITEMS: readonly PlotItem[] = [
  {
    name: 'requirements',
    goal: 'Write down what must hold, so that it can be tested',
    after: [],
    capability: 'software.requirements',
    file: 'requirements.md',
    mediaType: 'text/markdown',
    criterion: { criterionId: 'testable', description: 'Every rule can be tested', evidence: 'business_rule' },
    risk: 'none',
  },
  {
    name: 'implementation',
    goal: 'Write the code that the requirements ask for',
    after: ['requirements'],
    capability: 'software.implementation',
    file: 'implementation.mjs',
    mediaType: 'text/javascript',
    criterion: { criterionId: 'loads', description: 'The module loads and runs', evidence: 'deterministic_test' },
    risk: 'none',
  },
  {
    name: 'tests',
    goal: 'Turn the requirements into cases and run the code against them',
    after: ['requirements'],
    capability: 'software.testing',
    file: 'cases.json',
    mediaType: 'application/json',
    criterion: { criterionId: 'green', description: 'All cases pass', evidence: 'deterministic_test' },
    risk: 'none',
  },
  {
    name: 'review',
    goal: 'Read code and cases against the requirements',
    after: ['implementation', 'tests'],
    capability: 'software.review',
    file: 'review.md',
    mediaType: 'text/markdown',
    criterion: { criterionId: 'read', description: 'A second pair of eyes', evidence: 'reviewer_assessment' },
    risk: 'none',
  },
  {
    name: 'integration',
    goal: 'Bring it to production behind a switch',
    after: ['review'],
    capability: 'software.integration',
    file: 'release.json',
    mediaType: 'application/json',
    criterion: { criterionId: 'same-bytes', description: 'What ships was reviewed', evidence: 'artifact_integrity' },
    risk: 'none',
  },
];

export const CORRECTION: PlotItem = {
  name: 'correction',
  goal: 'Round credit notes like invoices, away from zero',
  after: ['integration'],
  capability: 'software.implementation',
  file: 'implementation.mjs',
  mediaType: 'text/javascript',
  criterion: { criterionId: 'green', description: 'Old and new cases pass', evidence: 'deterministic_test' },
  risk: 'none',
};

/** In mission A integration touches production, so a human must approve its execution. */
export function itemsOf(lane: 'A' | 'B'): readonly PlotItem[] {
  return ITEMS.map((item) => (lane === 'A' && item.name === 'integration' ? { ...item, risk: 'external' } : item));
}

export const PLOTS: Readonly<Record<'A' | 'B', Plot>> = {
  A: {
    title: 'Rate limiter for the public API',
    objective: 'One noisy client must not slow the others down',
    done: 'A client over its limit is told when to come back; all others notice nothing',
    requirements:
      'At most 3 requests in any 60 seconds for one key.\nBeyond it: refused, and told the seconds to wait.\n',
    implementation: `export default ({ earlier, now }) => {
  const recent = earlier.filter((at) => now - at < 60);
  if (recent.length < 3) return { allowed: true };
  return { allowed: false, waitSeconds: 60 - (now - Math.min(...recent)) };
};
`,
    cases: [
      { name: 'first request', input: { earlier: [], now: 0 }, output: { allowed: true } },
      { name: 'third in a minute', input: { earlier: [0, 1], now: 59 }, output: { allowed: true } },
      {
        name: 'fourth in a minute',
        input: { earlier: [0, 1, 2], now: 59 },
        output: { allowed: false, waitSeconds: 1 },
      },
      { name: 'the window slides', input: { earlier: [0, 1, 2], now: 60 }, output: { allowed: true } },
    ],
    question: 'Is a request that comes exactly 60 seconds later inside the window?',
    answer: 'No: the window is half-open, as every interval of ours',
  },
  B: {
    title: 'Invoices that add up to the cent',
    objective: 'Totals on invoices and in the ledger must agree',
    done: 'Each amount is rounded once, halves away from zero',
    requirements: 'Amounts come in thousandths and leave in cents.\nHalf a cent is rounded away from zero.\n',
    implementation: 'export default (thousandths) => Math.round(thousandths / 10);\n',
    cases: [
      { name: 'nothing', input: 0, output: 0 },
      { name: 'below half a cent', input: 124, output: 12 },
      { name: 'half a cent', input: 125, output: 13 },
    ],
    question: 'Do we round each line, or only the total?',
    answer: 'Each line: that is what the ledger does',
  },
};

/** What the MissionOwner finds in mission B, and how it is put right. `Math.round(-12.5)` is -12. */
export const CHANGE_REQUEST = {
  feedback: 'Credit notes are off by a cent: -0.125 must become -0.13',
  missingCase: { name: 'half a cent on a credit note', input: -125, output: -13 },
  implementation: 'export default (thousandths) => Math.sign(thousandths) * Math.round(Math.abs(thousandths) / 10);\n',
} as const;
