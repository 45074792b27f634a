// Context Packages that a Command brings: who may have made one, and for which stretch of which Group (MWP-MSN-012).
import type { ContextPackage } from '../protocol/documents/context-package.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { membershipKey } from './aggregates.ts';
import { claimedPrincipal } from './claimed-ids.ts';
import { seesEverything } from './memberships.ts';
import { one, type Read } from './reads.ts';
import { missionOf } from './roles.ts';
import type { View } from './view.ts';

/** The paths of free text in a Context Package that stands in a payload as `contextPackage`. */
export const CONTEXT_PACKAGE_TEXTS = [
  'contextPackage.summary',
  'contextPackage.decisions.*.description',
  'contextPackage.constraints.*',
  'contextPackage.unresolvedQuestions.*',
];

/** The Membership of whoever made it; asked before the document is known to be well-formed. */
export function contextPackageReads(groupId: string, contextPackage: Record<string, unknown> | undefined): Read[] {
  if (!contextPackage) return [];
  const maker = claimedPrincipal(contextPackage['generatedBy']);
  return maker ? [one('membership', membershipKey(groupId, maker))] : [];
}

/** T-10: any active member Agent that sees the whole history may make one, up to the Group's head. */
export function checkContextPackage(
  contextPackage: ContextPackage,
  groupId: string,
  view: View,
  headSequence: number,
): Refusal | undefined {
  const { mission } = missionOf(view, groupId);
  if (contextPackage.groupId !== groupId || contextPackage.missionId !== mission.missionId) {
    return refuse('INVALID_COMMAND', 'the Context Package is of another Mission');
  }
  const maker = view.get('membership', membershipKey(groupId, contextPackage.generatedBy));
  if (maker?.state !== 'active' || !seesEverything(maker)) {
    return refuse('AUTH_FORBIDDEN', 'the Context Package is not by an active member with full visibility');
  }
  const { fromSequence, toSequence } = contextPackage.sourceEventRange;
  if (fromSequence <= toSequence && toSequence <= headSequence) return undefined;
  return refuse('INVALID_COMMAND', 'the source range of the Context Package is not part of the Group');
}
