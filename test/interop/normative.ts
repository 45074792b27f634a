// Which members of an Event payload are normative documents, by name, and the check of one against its official schema.
import type { JsonObject, OfficialSdk } from './sdk.ts';

export type DocumentName =
  | 'agent-card'
  | 'approval'
  | 'artifact'
  | 'context-package'
  | 'conversation'
  | 'error'
  | 'evidence'
  | 'group'
  | 'group-snapshot'
  | 'lease'
  | 'membership'
  | 'message'
  | 'mission'
  | 'work-contract'
  | 'work-item';

export interface Found {
  readonly name: DocumentName;
  /** JSON pointer. */
  readonly at: string;
  readonly value: JsonObject;
}

const BY_MEMBER: ReadonlyMap<string, DocumentName> = new Map(
  Object.entries({
    approval: 'approval',
    artifact: 'artifact',
    card: 'agent-card',
    contextPackage: 'context-package',
    contract: 'work-contract',
    conversation: 'conversation',
    evidence: 'evidence',
    group: 'group',
    memberships: 'membership',
    message: 'message',
    mission: 'mission',
    snapshot: 'group-snapshot',
    workItem: 'work-item',
  } satisfies Record<string, DocumentName>),
);

/** What holds objects in our payloads and is no document of the protocol. */
const OURS: ReadonlySet<string> = new Set([
  'capabilityPins',
  'checkpoint',
  'cumulativeUsage',
  'details',
  'principal',
  'progress',
  'proposal',
  'releases',
  'remainingBudget',
  'scope',
  'selectionBasis',
  'offers',
  'submission',
  'usageDelta',
  'withdrawnOffers',
]);

/** The documents in a payload; `unknown` gets the pointer of each object that is neither one nor known to be ours. */
export function documentsIn(payload: JsonObject, unknown: string[]): Found[] {
  const found: Found[] = [];
  for (const [member, value] of Object.entries(payload)) {
    const values = (Array.isArray(value) ? value : [value]) as readonly unknown[];
    values.forEach((item, position) => {
      if (typeof item !== 'object' || item === null) return;
      const pointer = Array.isArray(value) ? `/${member}/${position}` : `/${member}`;
      const name = nameOf(member);
      if (name !== undefined) found.push({ name, at: pointer, value: item as JsonObject });
      else if (!OURS.has(member)) unknown.push(pointer);
      if (member === 'workItem' || member === 'proposal') {
        const { contract } = item as JsonObject;
        found.push({ name: 'work-contract', at: `${pointer}/contract`, value: contract as JsonObject });
      }
    });
  }
  return found;
}

function nameOf(member: string): DocumentName | undefined {
  return /^(lease|[a-z]+Leases?)$/.test(member) ? 'lease' : BY_MEMBER.get(member);
}

/** One line per fault, empty when the official catalog takes the document. */
export function schemaFaults({ catalog }: OfficialSdk, name: DocumentName, value: unknown, where: string): string[] {
  const { valid, errors } = catalog.validate(`${name}.schema.json`, value);
  if (valid) return [];
  return errors.map(({ instancePath, schemaPath, message }) => {
    const shown = JSON.stringify(memberAt(value, instancePath));
    return `${where}: ${name} ${instancePath || '/'} ${message ?? ''} (${schemaPath}), value ${shown?.slice(0, 200)}`;
  });
}

function memberAt(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((found, name) => (found as JsonObject | undefined)?.[name.replaceAll('~1', '/')], value);
}
