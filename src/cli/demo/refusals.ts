// The service keeps a protected record of each refusal. That they are all there, and no more, is an auditor's to see, and
// nobody else's, sealed with the archival of their Group or not.

import type { AuditItem, Page } from '../../worker/answers.ts';
import type { Actor } from './actor.ts';
import type { Cast } from './cast.ts';
import type { Checks } from './checks.ts';
import type { Journal } from './journal.ts';

export interface Refused {
  readonly journal: Journal;
  readonly cast: Cast;
  /** What was sealed is shown Group by Group. */
  readonly groupIds: readonly string[];
}

export async function checkRefusals(checks: Checks, { journal, cast, groupIds }: Refused): Promise<void> {
  const { iris, olga } = cast;
  const byId = new Map<number, string>();
  for (const filter of ['', ...groupIds.map((groupId) => `&groupId=${encodeURIComponent(groupId)}`)]) {
    for (const { id, code } of await auditOf(iris, filter)) byId.set(id, code);
  }
  const recorded = new Map<string, number>();
  for (const code of byId.values()) recorded.set(code, (recorded.get(code) ?? 0) + 1);
  const told = new Map<string, number>(journal.refusals());
  checks.equal('the protected audit holds every refusal, by code', sorted(recorded), sorted(told));
  const asOwner = await olga.client.read<Page<AuditItem>>('/audit');
  const answer = !asOwner.ok && asOwner.problem.kind === 'refused' ? asOwner.problem.error.code : asOwner;
  checks.equal('the owner of both missions may not read it', answer, 'AUTH_FORBIDDEN');
}

function sorted(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

async function auditOf({ name, client }: Actor, filter: string): Promise<AuditItem[]> {
  const items: AuditItem[] = [];
  for (let after = ''; ;) {
    const page = await client.read<Page<AuditItem>>(`/audit?limit=200${filter}${after}`);
    if (!page.ok) throw new Error(`${name} cannot read the audit: ${page.problem.kind}`);
    items.push(...page.value.items);
    if (page.value.next === undefined) return items;
    after = `&after=${encodeURIComponent(page.value.next)}`;
  }
}
