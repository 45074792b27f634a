// The Registry of one Organization: its log folded once more, and the tables beside it compared with what the log says. Gives
// the evidence that everything else is judged by; where the log cannot be believed, nothing can.
import type { HistoryReader, OrganizationRow, RegisteredRows } from '../store/port.ts';
import { principalKey } from '../protocol/principals.ts';
import { followLog, Registry, type CheckSeal } from '../trust/registry.ts';
import { canonicalText } from '../wire/canonical.ts';
import { Findings } from './findings.ts';

export interface RegistryReport {
  /** Undefined: the log cannot be believed. */
  registry: Registry | undefined;
  findings: Findings;
}

/** Without `checkSeal`, which needs the master key, the chain is proven and the seals are not. */
export async function verifyRegistry(
  { organizationId }: Pick<OrganizationRow, 'organizationId'>,
  reader: Pick<HistoryReader, 'registrySince' | 'registered'>,
  checkSeal?: CheckSeal,
): Promise<RegistryReport> {
  const findings = new Findings();
  const registry = new Registry(organizationId, checkSeal);
  const followed = await followLog(registry, (revision) => reader.registrySince(revision));
  const fault = 'reason' in followed ? followed.reason : aheadOf(registry.revision, followed.current);
  if (fault !== undefined) {
    findings.fault(`registry_log: ${fault}`);
    return { registry: undefined, findings };
  }
  if (registry.beginsUnsealed) {
    findings.note(
      `what was registered up to revision ${registry.firstRevision} came before there was a log: nobody vouches for it`,
    );
  }
  compare(registry, await reader.registered(), findings);
  return { registry, findings };
}

function aheadOf(revision: number, current: number): string | undefined {
  return revision > current ? `the log is at revision ${revision}, and organizations says ${current}` : undefined;
}

function compare(registry: Registry, rows: RegisteredRows, findings: Findings): void {
  const of = <Row>(found: Iterable<Row>, key: (row: Row) => string) =>
    new Map([...found].map((row) => [key(row), canonicalText(row)]));
  const bindings = [...registry.all()];
  const tables: [string, Map<string, string>, Map<string, string>][] = [
    ['organizations', of([registry.organization ?? {}], () => 'row'), of([rows.organization], () => 'row')],
    [
      'principals',
      of(registry.principals.values(), ({ principal }) => principalKey(principal)),
      of(rows.principals, ({ principal }) => principalKey(principal)),
    ],
    [
      'key_bindings',
      of(
        bindings.map(({ history: _, ...row }) => row),
        ({ keyId }) => keyId,
      ),
      of(rows.bindings, ({ keyId }) => keyId),
    ],
    [
      'key_validity',
      of(
        bindings.flatMap(({ keyId, history }) => history.map((record) => ({ keyId, ...record }))),
        ({ keyId, sequence }) => `${keyId} ${sequence}`,
      ),
      of(rows.validity, ({ keyId, sequence }) => `${keyId} ${sequence}`),
    ],
    [
      'policies',
      of(
        [...registry.policies.values()].map(({ version, document }) => ({ version, document })),
        ({ version }) => `version ${version}`,
      ),
      of(rows.policies, ({ version }) => `version ${version}`),
    ],
  ];
  for (const [table, expected, found] of tables) {
    for (const [key, text] of expected) {
      if (found.get(key) !== text) findings.fault(`${table}: ${key} is not as the log of the Registry has it`);
    }
    for (const key of found.keys()) {
      if (!expected.has(key)) findings.fault(`${table}: ${key} is not in the log of the Registry`);
    }
  }
}
